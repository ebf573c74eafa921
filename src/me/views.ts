import { Injectable } from '@nestjs/common';
import { InvalidTokenError } from '../auth/tokens/access-token.js';
import { UsersRepository } from '../users/users.repository.js';
import type { AccountResult, ListedSession, OwnSession as OwnSessionView } from './me.responses.js';
import type { OwnSession } from '../auth/sessions/sessions.of-user.js';
import { timeOrNull, timeText } from '../identifiers/text.js';

@Injectable()
export class AccountView {
  constructor(private readonly users: UsersRepository) {}

  async of(userId: string): Promise<AccountResult> {
    const user = await this.users.findById(userId);
    if (!user) throw new InvalidTokenError('user_gone');
    const { id, email, emailVerifiedAt, createdAt, passwordChangedAt } = user;
    return {
      user: { id, email },
      emailVerified: emailVerifiedAt !== null,
      createdAt: timeText(createdAt),
      passwordChangedAt: timeOrNull(passwordChangedAt),
    };
  }
}

export function listOf(sessions: readonly OwnSession[], currentId: string): OwnSessionView[] {
  return sessions.map((session) => ({ ...sessionView(session), current: session.id === currentId }));
}

export function sessionView(session: OwnSession): ListedSession {
  const { id, loginId, createdAt, rotatedAt, expiresAt, ip, userAgent, deviceName, service } = session;
  return {
    id,
    via: loginId === null ? 'password' : 'code',
    createdAt: timeText(createdAt),
    lastUsedAt: timeText(rotatedAt ?? createdAt),
    expiresAt: timeText(expiresAt),
    ip,
    userAgent,
    deviceName,
    service,
  };
}
