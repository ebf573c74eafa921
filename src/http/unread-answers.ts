import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const STALL_TIMEOUT_MS = 5000;
const CHECK_MS = 1000;
const LOG_INTERVAL_MS = 60_000;

interface SentAnswer {
  ip: string;
  bytes: number;
  /** when a check last saw progress */
  progress?: { taken: number; at: number };
}

/** The answers that Accounts has sent and clients have not taken. They stay in memory, so both time and bytes are bounded. */
export class UnreadAnswers {
  private readonly logger = new Logger('Http');
  private readonly sent = new Map<ServerResponse, SentAnswer>();
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private loggedAt = Number.NEGATIVE_INFINITY;

  /** @param bytes of the body, or the most that a stream holds */
  add(response: ServerResponse, ip: string, bytes: number): void {
    this.delete(response);
    this.sent.set(response, { ip, bytes });
    this.bytes += bytes;
    if (this.bytes > MAX_UNREAD_BYTES) this.closeExcess();
    this.timer ??= setInterval(() => this.closeStalled(), CHECK_MS).unref();
  }

  delete(response: ServerResponse): void {
    this.bytes -= this.sent.get(response)?.bytes ?? 0;
    this.sent.delete(response);
  }

  /** The client with the most unread bytes loses the connection that it has left unread for longest. */
  private closeExcess(): void {
    const byClient = Map.groupBy(this.sent, ([, { ip }]) => ip);
    const clients = [...byClient.values()].map((answers) => {
      const responses = answers.map(([response]) => response).filter(({ req }) => !req.socket.destroyed);
      return { responses, bytes: sumOf(responses) };
    });
    for (let excess = total(clients) - MAX_UNREAD_BYTES; excess > 0;) {
      const most = clients.reduce((one, other) => (other.bytes > one.bytes ? other : one));
      const oldest = most.responses.shift();
      if (!oldest) return;
      excess -= oldest.writableLength;
      most.bytes -= oldest.writableLength;
      oldest.req.socket.destroy();
      this.warnOfExcess();
    }
  }

  /** The timeout of the socket ignores clients that still send. */
  private closeStalled(): void {
    if (this.sent.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    const at = performance.now();
    for (const [{ req }, answer] of this.sent) {
      const { socket } = req;
      const taken = takenBy(socket);
      if (taken !== answer.progress?.taken || socket.writableLength === 0) answer.progress = { taken, at };
      if (socket.destroyed || at - answer.progress.at < STALL_TIMEOUT_MS) continue;
      this.logger.warn('connection closed: the client read nothing of the response for 5 seconds');
      socket.destroy();
    }
  }

  private warnOfExcess(): void {
    const now = performance.now();
    if (now - this.loggedAt < LOG_INTERVAL_MS) return;
    this.loggedAt = now;
    this.logger.warn('connections are closed: clients leave more than 64 MiB of responses unread');
  }
}

/** Returns the bytes that the operating system accepted, which only Node's handle shows during a write. */
function takenBy(socket: Socket): number {
  const handle = Reflect.get(socket, '_handle') as { bytesWritten: number; writeQueueSize: number } | null;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

function sumOf(responses: readonly ServerResponse[]): number {
  return responses.reduce((sum, { writableLength }) => sum + writableLength, 0);
}

function total(clients: readonly { bytes: number }[]): number {
  return clients.reduce((sum, { bytes }) => sum + bytes, 0);
}
