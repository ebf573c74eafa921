import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Session } from './session.entity.js';

@Injectable()
export class SignedInUsersRepository {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  /** Pages by id through users who have a session that may be alive. */
  async findAfter(userId: string, now: number, limit: number): Promise<string[]> {
    const rows = await this.sessions.query<{ id: string }[]>(
      `SELECT u.id FROM users u WHERE u.id > ? AND EXISTS (SELECT 1 FROM sessions s
        WHERE s.user_id = u.id AND s.auth_epoch = u.auth_epoch AND s.revoked_at IS NULL AND s.expires_at > ?)
        ORDER BY u.id LIMIT ?`,
      [userId, now, limit],
    );
    return rows.map(({ id }) => id);
  }
}
