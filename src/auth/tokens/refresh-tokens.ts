import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isEntityId } from '../../identifiers/entity-id.js';
import { DerivedMacs } from './derived-keys.js';
import { KeyFileWatch } from './key-file-watch.js';
import { KeyRing } from './signing-keys.js';

export interface RefreshToken {
  sessionId: string;
  generation: number;
}

const MAX_LENGTH = 36 + 1 + 10 + 1 + 43;
const TOKEN = /^(([\da-f-]{36})\.([1-9]\d{0,9}))\.([\w-]{43})$/;

/** A token is `session id . generation . MAC`: the database alone cannot make one, and checking it takes no query. */
@Injectable()
export class RefreshTokens {
  private readonly macs: DerivedMacs;

  constructor(
    keys: KeyRing,
    private readonly keyFile: KeyFileWatch,
  ) {
    this.macs = new DerivedMacs(keys, 'refresh tokens');
  }

  write({ sessionId, generation }: RefreshToken): string {
    const message = `${sessionId}.${generation}`;
    return `${message}.${this.macs.make(message).toString('base64url')}`;
  }

  /** Returns undefined for a token that no key of the file, as it is now, has made. */
  async read(text: string): Promise<RefreshToken | undefined> {
    if (text.length > MAX_LENGTH || !TOKEN.test(text)) return undefined;
    const known = this.verify(text);
    if (known) return known;
    await this.keyFile.lookForUnknownKey();
    return this.verify(text);
  }

  private verify(text: string): RefreshToken | undefined {
    const [, message = '', sessionId, generation, mac = ''] = TOKEN.exec(text) ?? [];
    if (!isEntityId(sessionId)) return undefined;
    const shown = Buffer.from(mac, 'base64url');
    const isOurs = this.macs.accepted(message).some((accepted) => timingSafeEqual(accepted, shown));
    return isOurs ? { sessionId, generation: Number(generation) } : undefined;
  }
}
