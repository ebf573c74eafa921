import { Injectable } from '@nestjs/common';
import { Problem } from '../../problems/problem.js';
import type { Credentials } from '../../users/users.repository.js';
import { SignedTexts } from '../tokens/derived-keys.js';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing } from '../tokens/signing-keys.js';

export class InvalidChallengeError extends Problem {
  constructor(reason: 'forged_or_expired' | 'account_changed', userId?: string) {
    super('invalid_challenge', { headers: { 'WWW-Authenticate': 'Bearer' }, reason, userId });
  }
}

export interface LoginChallenge {
  userId: string;
  authEpoch: number;
  /** voids the challenge if another factor replaces this one */
  enabledAt: number;
  expiresAt: number;
  deviceName?: string;
}

export const CHALLENGE_TTL_MS = 300_000;
// A device name has at most 60 characters of 4 octets. Instances of 0.3.0 refuse a fifth part, so it is there for a name only.
const FORMAT = /^[\da-f-]{36}\.\d{1,10}\.\d{1,16}\.\d{1,16}(?:\.[\w-]{1,320})?$/;

/** Accounts stores no challenge: a change of the user's epoch or factor voids it. */
@Injectable()
export class LoginChallenges {
  private readonly texts: SignedTexts;

  constructor(keys: KeyRing, keyFile: KeyFileWatch) {
    this.texts = new SignedTexts(keys, keyFile, 'login challenges', FORMAT);
  }

  write({ userId, authEpoch, enabledAt, expiresAt, deviceName }: LoginChallenge): string {
    const name = deviceName === undefined ? [] : [Buffer.from(deviceName).toString('base64url')];
    return this.texts.write(userId, authEpoch, enabledAt, expiresAt, ...name);
  }

  async read(text: string): Promise<LoginChallenge | undefined> {
    const [userId, authEpoch, enabledAt, expiresAt, name] = (await this.texts.read(text)) ?? [];
    if (userId === undefined || Number(expiresAt) <= Date.now()) return undefined;
    return {
      userId,
      authEpoch: Number(authEpoch),
      enabledAt: Number(enabledAt),
      expiresAt: Number(expiresAt),
      ...(name !== undefined && { deviceName: Buffer.from(name, 'base64url').toString() }),
    };
  }
}

export function isChallengeOf({ authEpoch, enabledAt }: LoginChallenge, user: Credentials): boolean {
  return user.authEpoch === authEpoch && user.secondFactorAt === enabledAt && user.disabledAt === null;
}
