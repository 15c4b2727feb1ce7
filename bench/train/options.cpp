#include "train/options.hpp"

namespace ringlet::train {

void add_options(CLI::App& app, TrainOptions& options) {
  const CLI::Range at_least_one(std::size_t{1}, std::size_t{1000000});
  app.add_option("--compression", options.compression,
                 "Spec for every gradient, such as none, \"qsgd(bits=4)\" or \"topk(ratio=0.01)\"; default: "
                 "RINGLET_COMPRESSION's rules");
  app.add_option("--model", options.model, "Network to train")
      ->check(CLI::IsMember({"cnn", "mlp"}))
      ->capture_default_str();
  app.add_option("--epochs", options.epochs, "Passes over the training images")
      ->check(at_least_one)
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Images a rank and step")->check(at_least_one)->capture_default_str();
  app.add_option("--lr", options.sgd.learning_rate, "Learning rate")->capture_default_str();
  app.add_option("--schedule", options.schedule, "Learning rate over the run: constant, or linear down to nothing")
      ->check(CLI::IsMember({"constant", "linear"}))
      ->capture_default_str();
  app.add_option("--momentum", options.sgd.momentum, "Momentum")->check(CLI::Range(0.0, 1.0))->capture_default_str();
  app.add_flag("--momentum-before", options.momentum_before, "Apply momentum and weight decay before the exchange");
  app.add_flag("--nesterov", options.sgd.nesterov, "Nesterov's momentum");
  app.add_option("--weight-decay", options.sgd.weight_decay, "Weight decay")->capture_default_str();
  app.add_option("--accumulate", options.accumulate, "Micro-steps summed before one exchange")
      ->check(at_least_one)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the first weights and of the order of the images")
      ->capture_default_str();
  app.add_option("--data", options.data, "Directory with the four IDX files of Fashion-MNIST")->capture_default_str();
  app.add_option("--limit", options.limit, "Train on the first N images only (0: all)")->capture_default_str();
  app.add_option("--json", options.json, "File that rank 0 writes the epochs' figures to");
  app.add_flag("--quiet", options.quiet, "Print the summary only");
}

}  // namespace ringlet::train
