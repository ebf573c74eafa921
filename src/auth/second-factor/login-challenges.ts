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
}

export const CHALLENGE_TTL_MS = 300_000;
const FORMAT = /^[\da-f-]{36}\.\d{1,10}\.\d{1,16}\.\d{1,16}$/;

/** Accounts stores no challenge: a change of the user's epoch or factor voids it. */
@Injectable()
export class LoginChallenges {
  private readonly texts: SignedTexts;

  constructor(keys: KeyRing, keyFile: KeyFileWatch) {
    this.texts = new SignedTexts(keys, keyFile, 'login challenges', FORMAT);
  }

  write({ userId, authEpoch, enabledAt, expiresAt }: LoginChallenge): string {
    return this.texts.write(userId, authEpoch, enabledAt, expiresAt);
  }

  async read(text: string): Promise<LoginChallenge | undefined> {
    const [userId, ...numbers] = (await this.texts.read(text)) ?? [];
    const [authEpoch = 0, enabledAt = 0, expiresAt = 0] = numbers.map(Number);
    if (userId === undefined || expiresAt <= Date.now()) return undefined;
    return { userId, authEpoch, enabledAt, expiresAt };
  }
}

export function isChallengeOf({ authEpoch, enabledAt }: LoginChallenge, user: Credentials): boolean {
  return user.authEpoch === authEpoch && user.secondFactorAt === enabledAt && user.disabledAt === null;
}
