// The tests hold the other end of this pipe: it closes when they are gone, however that came.
process.stdin.once('end', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.resume();
process.stdin.unref();
