import type { ListedSession, OwnSession as OwnSessionView } from './own-account.responses.js';
import type { OwnSession } from '../auth/sessions/user-sessions.repository.js';

export function listOf(sessions: readonly OwnSession[], currentId: string): OwnSessionView[] {
  return sessions.map((session) => ({ ...sessionView(session), current: session.id === currentId }));
}

export function sessionView(session: OwnSession): ListedSession {
  const { id, parentId, createdAt, rotatedAt, expiresAt, ip, userAgent, deviceName, service } = session;
  return {
    id,
    via: parentId === null ? 'password' : 'code',
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: new Date(rotatedAt ?? createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    ip,
    userAgent,
    deviceName,
    service,
  };
}
