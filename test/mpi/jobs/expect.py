#!/usr/bin/env python3
"""Runs a command that is meant to fail, or not, and judges how it ended: exit status, what it said, how long it took, and whether any of
its processes is left. Exit status 0: all as expected; 1: not, and the command's output is shown.

    expect.py --status nonzero --require 'rank 1.*planted' --within 30 -- mpirun -np 3 ./program throw
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time

LINGER = 5.0  # seconds that a launcher's children may take to follow it


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--status', default='zero', help='zero, nonzero, any or a number')
    parser.add_argument('--require', action='append', default=[], metavar='REGEX', help='must match the output')
    parser.add_argument('--forbid', action='append', default=[], metavar='REGEX', help='must not match it')
    parser.add_argument('--once', action='append', default=[], metavar='REGEX', help='must match exactly once')
    parser.add_argument('--within', type=float, default=30, metavar='SECONDS', help='hard limit; later is a failure')
    parser.add_argument('--env', action='append', default=[], metavar='NAME=VALUE')
    parser.add_argument('command', nargs='+')
    return parser.parse_args(argv)


def session_members(session):
    """The processes of a session that still run: a launcher puts its ranks into groups of their own, but not into another session."""
    members = []
    for entry in os.listdir('/proc'):
        if not entry.isdigit():
            continue
        try:
            with open(f'/proc/{entry}/stat') as stat:
                state, _, _, of = stat.read().rpartition(')')[2].split()[:4]
        except OSError:  # gone meanwhile
            continue
        if int(of) == session and state not in 'ZX':
            members.append(int(entry))
    return members


def end_session(session):
    """Kills whatever the command left behind; returns how many processes that were."""
    deadline = time.monotonic() + LINGER
    while (left := session_members(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(left)


def run(args):
    """(exit status or None when it ran past the limit, output, seconds, processes left over)"""
    environment = os.environ | dict(pair.split('=', 1) for pair in args.env)
    begin = time.monotonic()
    process = subprocess.Popen(args.command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=args.within)
        status = process.returncode
    except subprocess.TimeoutExpired:
        for pid in session_members(process.pid):
            os.kill(pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = None
    seconds = time.monotonic() - begin
    return status, output.decode(errors='replace'), seconds, end_session(process.pid)


def judge(args, status, output, left):
    """What is not as expected, as sentences."""
    problems = []
    if status is None:
        problems.append(f'it still ran after {args.within:g} s')
    elif {'any': False, 'zero': status != 0, 'nonzero': status == 0}.get(args.status, str(status) != args.status):
        problems.append(f'exit status {status}, expected {args.status}')
    if left:
        problems.append(f'{left} of its processes outlived it by {LINGER:g} s')

    def count(pattern):
        return len(re.findall(pattern, output, re.MULTILINE))

    problems += [f'the output lacks: {p}' for p in args.require if count(p) == 0]
    problems += [f'the output has, but must not: {p}' for p in args.forbid if count(p) > 0]
    problems += [f'the output has {count(p)} times instead of once: {p}' for p in args.once if count(p) != 1]
    return problems


def main(argv):
    args = parse(argv)
    status, output, seconds, left = run(args)
    problems = judge(args, status, output, left)
    print(f'{"not as expected" if problems else "as expected"}: status {status} after {seconds:.1f} s')
    for problem in problems:
        print(f'  {problem}')
    print('--- output'), print(output, end='')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
