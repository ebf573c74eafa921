import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isEntityId } from '../../identifiers/entity-id.js';
import type { Credentials } from '../../users/users.repository.js';
import { DerivedMacs } from '../tokens/derived-keys.js';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing } from '../tokens/signing-keys.js';

/** Times are epoch milliseconds. */
export interface LoginChallenge {
  userId: string;
  authEpoch: number;
  /** when the factor was enabled, so that its successor does not answer the challenge */
  enabledAt: number;
  expiresAt: number;
}

type ChallengedUser = Pick<Credentials, 'authEpoch' | 'secondFactorAt' | 'disabledAt'>;

export const CHALLENGE_TTL_MS = 300_000;

const MAX_LENGTH = 36 + 1 + 10 + 1 + 16 + 1 + 16 + 1 + 43;
const CHALLENGE = /^(([\da-f-]{36})\.(\d{1,10})\.(\d{1,16})\.(\d{1,16}))\.([\w-]{43})$/;

// `user id . auth_epoch . enabled_at . expiry . MAC`. Accounts stores no challenge: a change of the user's epoch or
// factor voids it.
@Injectable()
export class LoginChallenges {
  private readonly macs: DerivedMacs;

  constructor(
    keys: KeyRing,
    private readonly keyFile: KeyFileWatch,
  ) {
    this.macs = new DerivedMacs(keys, 'login challenges');
  }

  issue(account: Pick<LoginChallenge, 'userId' | 'authEpoch' | 'enabledAt'>): {
    challenge: string;
    expiresAt: number;
  } {
    const expiresAt = Date.now() + CHALLENGE_TTL_MS;
    return { challenge: this.write({ ...account, expiresAt }), expiresAt };
  }

  write({ userId, authEpoch, enabledAt, expiresAt }: LoginChallenge): string {
    const message = [userId, authEpoch, enabledAt, expiresAt].join('.');
    return `${message}.${this.macs.make(message).toString('base64url')}`;
  }

  async read(text: string): Promise<LoginChallenge | undefined> {
    if (text.length > MAX_LENGTH || !CHALLENGE.test(text)) return undefined;
    const known = this.verify(text);
    if (known) return known;
    await this.keyFile.lookForUnknownKey();
    return this.verify(text);
  }

  private verify(text: string): LoginChallenge | undefined {
    const [, message = '', userId, authEpoch, enabledAt, expiresAt, mac = ''] = CHALLENGE.exec(text) ?? [];
    if (!isEntityId(userId) || Number(expiresAt) <= Date.now()) return undefined;
    const shown = Buffer.from(mac, 'base64url');
    const isOurs = this.macs.accepted(message).some((accepted) => timingSafeEqual(accepted, shown));
    if (!isOurs) return undefined;
    return {
      userId,
      authEpoch: Number(authEpoch),
      enabledAt: Number(enabledAt),
      expiresAt: Number(expiresAt),
    };
  }
}

export function isChallengeOf({ authEpoch, enabledAt }: LoginChallenge, user: ChallengedUser): boolean {
  return user.authEpoch === authEpoch && user.secondFactorAt === enabledAt && user.disabledAt === null;
}
