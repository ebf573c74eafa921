import { Injectable, Logger, type StreamableFile } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { SessionsRepository } from '../auth/sessions/sessions.repository.js';
import { InvalidTokenError } from '../auth/tokens/access-token.js';
import { streamJson } from '../http/list-stream.js';
import { documentText, inPieces, UserExport } from '../accounts/user-export.js';
import { UsersRepository } from '../users/users.repository.js';

/** characters that are sent at once: most exports are one piece */
const PIECE = 32_768;

type Reader = Pick<UserPrincipal, 'id' | 'sessionId'>;

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
    return streamJson(this.livePieces(reader, first.value as string, pieces), {
      logger: this.logger,
      failure: { msg: 'an export was cut off', userId: reader.id },
    });
  }

  /** Checks the session after a piece was read, so that nothing in it is newer than the end of the session. */
  private async *livePieces(
    { sessionId }: Reader,
    first: string,
    rest: AsyncIterable<string>,
  ): AsyncGenerator<string | undefined> {
    yield first;
    for await (const piece of rest) yield (await this.sessions.findPrincipal(sessionId)) ? piece : undefined;
  }
}
