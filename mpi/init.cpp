#include "mpi/mpi_transport.hpp"
#include "ringlet/mpi.hpp"
#include "transport/factory.hpp"

namespace ringlet {

void init(MPI_Comm user) { transport::adopt_transport(mpi::transport_on(user)); }

}  // namespace ringlet
