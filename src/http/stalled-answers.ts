import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@nestjs/common';

/** how long a client may take nothing of its answer */
const STALL_TIMEOUT_MS = 15_000;
const CHECK_MS = 1000;

/** Disconnects a client that stops reading: the socket's own timeout spares those that still send. */
export function disconnectWhenStalled(response: ServerResponse, logger: Logger): void {
  const { socket } = response.req;
  let taken = takenBy(socket);
  let since = performance.now();

  const timer = setInterval(() => {
    if (response.writableFinished || socket.destroyed) return clearInterval(timer);
    const before = taken;
    taken = takenBy(socket);
    if (taken !== before || socket.writableLength === 0) since = performance.now();
    if (performance.now() - since < STALL_TIMEOUT_MS) return;
    clearInterval(timer);
    logger.warn('connection closed: the client read nothing of its answer for 15 seconds');
    socket.destroy();
  }, CHECK_MS);
  timer.unref();
}

/** The bytes that the operating system accepted; only Node's handle knows the progress of a write. */
function takenBy(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  return isHandle(handle) ? handle.bytesWritten - handle.writeQueueSize : 0;
}

function isHandle(handle: unknown): handle is { bytesWritten: number; writeQueueSize: number } {
  return (
    typeof handle === 'object' && handle !== null && 'bytesWritten' in handle && 'writeQueueSize' in handle
  );
}
