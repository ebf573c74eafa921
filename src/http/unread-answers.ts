import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const STALL_TIMEOUT_MS = 5000;
const CHECK_MS = 1000;
const LOG_INTERVAL_MS = 60_000;

interface Connection {
  socket: Socket;
  /** of the client with the latest answer, since a proxy sends requests of several clients */
  ip: string;
  answers: number;
  bytes: number;
  /** orders connections by how long they have had an unread answer */
  since: number;
  /** when a check last saw progress */
  progress?: { taken: number; at: number } | undefined;
}

/** The answers that Accounts has sent and clients have not taken. They stay in memory, so both time and bytes are bounded. */
export class UnreadAnswers {
  private readonly logger = new Logger('Http');
  // By connection, which is old anyway: from a map of its answers, V8 would move every answer into its old generation.
  private readonly connections = new Map<Socket, Connection>();
  private answers = 0;
  private bytes = 0;
  private sequence = 0;
  private timer: NodeJS.Timeout | undefined;
  private loggedAt = Number.NEGATIVE_INFINITY;

  /** @param bytes of the body, or the most that a stream holds */
  add(socket: Socket, ip: string, bytes: number): void {
    if (socket.destroyed) return;
    const connection = this.connections.get(socket) ?? this.follow(socket);
    if (connection.answers === 0) Object.assign(connection, { since: ++this.sequence, progress: undefined });
    connection.ip = ip;
    this.count(connection, 1, bytes);
    if (this.bytes > MAX_UNREAD_BYTES) this.closeExcess();
    this.timer ??= setInterval(() => this.closeStalled(), CHECK_MS).unref();
  }

  remove(socket: Socket, bytes: number): void {
    const connection = this.connections.get(socket);
    if (connection) this.count(connection, -1, -bytes);
  }

  private follow(socket: Socket): Connection {
    const connection = { socket, ip: '', answers: 0, bytes: 0, since: 0 };
    this.connections.set(socket, connection);
    socket.once('close', () => {
      this.connections.delete(socket);
      this.count(connection, -connection.answers, -connection.bytes);
    });
    return connection;
  }

  private count(connection: Connection, answers: number, bytes: number): void {
    connection.answers += answers;
    connection.bytes += bytes;
    this.answers += answers;
    this.bytes += bytes;
  }

  /** The client with the most unread bytes loses the connection that it has left unread for longest. */
  private closeExcess(): void {
    const unread = [...this.connections.values()].filter(isUnread).toSorted((a, b) => a.since - b.since);
    const clients = [...Map.groupBy(unread, ({ ip }) => ip).values()].map((connections) => ({
      connections,
      bytes: connections.reduce((sum, connection) => sum + unreadBytes(connection), 0),
    }));
    const total = clients.reduce((sum, { bytes }) => sum + bytes, 0);
    for (let excess = total - MAX_UNREAD_BYTES; excess > 0;) {
      const most = clients.reduce((one, other) => (other.bytes > one.bytes ? other : one));
      const oldest = most.connections.shift();
      if (!oldest) return;
      excess -= unreadBytes(oldest);
      most.bytes -= unreadBytes(oldest);
      oldest.socket.destroy();
      this.warnOfExcess();
    }
  }

  /** The timeout of the socket ignores clients that still send. */
  private closeStalled(): void {
    if (this.answers === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const at = performance.now();
    for (const connection of [...this.connections.values()].filter(isUnread)) {
      const { socket, progress } = connection;
      const taken = takenBy(socket);
      if (taken !== progress?.taken || socket.writableLength === 0) connection.progress = { taken, at };
      else if (at - progress.at >= STALL_TIMEOUT_MS) {
        this.logger.warn('connection closed: the client read nothing of the response for 5 seconds');
        socket.destroy();
      }
    }
  }

  private warnOfExcess(): void {
    const now = performance.now();
    if (now - this.loggedAt < LOG_INTERVAL_MS) return;
    this.loggedAt = now;
    this.logger.warn('connections are closed: clients leave more than 64 MiB of responses unread');
  }
}

function isUnread({ answers, socket }: Connection): boolean {
  return answers > 0 && !socket.destroyed;
}

/** Answers to pipelined requests wait outside of the socket, so that several count whole. */
function unreadBytes({ answers, bytes, socket }: Connection): number {
  return answers > 1 ? bytes : socket.writableLength;
}

/** Returns the bytes that the operating system accepted, which only Node's handle shows during a write. */
function takenBy(socket: Socket): number {
  const handle = Reflect.get(socket, '_handle') as { bytesWritten: number; writeQueueSize: number } | null;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
