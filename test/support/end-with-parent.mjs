// The tests hold the other end of this pipe, which closes when they end for any reason.
process.stdin.once('end', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.resume();
process.stdin.unref();
