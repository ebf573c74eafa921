import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Injectable, Logger, StreamableFile } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { SessionsRepository } from '../auth/sessions/sessions.repository.js';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { describeError } from '../telemetry/logging/describe-error.js';
import { documentText, inPieces, UserExport } from '../accounts/user-export.js';
import { UsersRepository } from '../users/users.repository.js';

/** characters that are sent at once: most exports are one piece */
const PIECE = 32_768;

type Reader = Pick<UserPrincipal, 'id' | 'sessionId'>;

class ReaderGoneError extends Error {
  constructor() {
    super('The session of the reader has ended');
  }
}

/** Streams an export as fast as the client reads. A stream that fails closes its connection. */
@Injectable()
export class OwnExportService {
  private readonly logger = new Logger('Export');

  constructor(
    private readonly users: UsersRepository,
    private readonly exports: UserExport,
    private readonly sessions: SessionsRepository,
  ) {}

  /** Reads the first piece before the answer begins, so that a fault while it is read has a status. */
  async answer(reader: Reader): Promise<StreamableFile> {
    const user = await this.users.findById(reader.id);
    if (!user) throw new InvalidTokenError('user_gone');
    const pieces = inPieces(documentText(this.exports.documentOf(user), ''), PIECE);
    const first = await pieces.next();
    const chunks = this.stream(reader, first.value as string, pieces);
    const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 0 });
    return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
  }

  private async *stream(reader: Reader, first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
    yield first;
    try {
      for await (const piece of rest) {
        await this.requireLive(reader);
        yield piece;
        // On SQLite nothing else would get a turn.
        await setImmediate();
      }
    } catch (error) {
      const entry = { msg: 'an export was cut off', userId: reader.id, err: describeError(error) };
      if (error instanceof ReaderGoneError) this.logger.log(entry);
      else this.logger.warn(entry);
      throw error;
    }
  }

  /** Runs after the piece was read, so that nothing in it is newer than the end of the session. */
  private async requireLive({ sessionId }: Reader): Promise<void> {
    if (!(await this.sessions.findPrincipal(sessionId))) throw new ReaderGoneError();
  }
}
