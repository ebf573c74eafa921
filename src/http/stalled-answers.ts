import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';

const CHECK_MS = 5000;
const CHECKS = 3;
/** Checks that lie further apart had progress between them, of which Node says nothing. */
const IN_A_ROW_MS = 1.5 * CHECK_MS;

/**
 * Ends a connection whose client has taken nothing of its answer for 15 seconds: between 15 and 20. Node reports a
 * socket on which nothing went on for the time that was set, where a write that made some progress is not nothing.
 */
export function endStalledAnswers(fastify: FastifyInstance): void {
  const logger = new Logger('Http');
  const checked = new WeakMap<Socket, { checks: number; at: number }>();

  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    reply.raw.setTimeout(CHECK_MS);
    done();
  });
  fastify.server.on('timeout', (socket: Socket) => {
    const at = performance.now();
    const last = checked.get(socket);
    const checks = last && at - last.at < IN_A_ROW_MS ? last.checks + 1 : 1;
    if (checks < CHECKS) {
      checked.set(socket, { checks, at });
      socket.setTimeout(CHECK_MS);
      return;
    }
    if (socket.writableLength > 0) logger.warn('a client took nothing of its answer for 15 seconds');
    socket.destroy();
  });
}
