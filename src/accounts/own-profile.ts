import { Injectable } from '@nestjs/common';
import { InvalidTokenError } from '../auth/tokens/access-token.js';
import { Unchanged } from '../database/transactions/transactions.js';
import { requireMatch, type Versioned } from '../requests/entity-tags.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import {
  type Profile,
  PROFILE_CHANGED,
  PROFILE_FIELDS,
  type ProfileChange,
  profileOf,
  profileTag,
} from '../users/profile.js';
import { UserChanges } from '../users/user-changes.js';
import { UserUpdatesRepository } from '../users/users.updates.js';
import { UsersRepository } from '../users/users.repository.js';

type ProfileAnswer = Versioned<{ profile: Profile }>;

@Injectable()
export class OwnProfile {
  constructor(
    private readonly users: UsersRepository,
    private readonly updates: UserUpdatesRepository,
    private readonly changes: UserChanges,
    private readonly writes: Writes,
  ) {}

  async get(userId: string): Promise<ProfileAnswer> {
    const user = await this.users.findById(userId);
    if (!user) throw new InvalidTokenError('user_gone');
    return answerOf(profileOf(user));
  }

  async update(write: Write, change: ProfileChange): Promise<ProfileAnswer> {
    const userId = write.actor.id;
    const done = await this.changes.inUser(write, userId, async (tx, user) => {
      await this.writes.replay(tx, write);
      if (user.disabledAt !== null) throw new InvalidTokenError('user_gone');
      const before = profileOf(user);
      requireMatch(write, profileTag(before), PROFILE_CHANGED);
      const profile = profileOf(before, change);
      const changed = PROFILE_FIELDS.filter((name) => profile[name] !== before[name]);
      if (changed.length === 0) return new Unchanged({ profile });

      await this.updates.setProfile(tx, userId, profile);
      await user.record({ type: 'account.profile_changed', data: { changed } });
      return this.writes.complete(tx, write, { profile });
    });
    if (done.kind === 'gone') throw new InvalidTokenError('user_gone');
    if (done.kind === 'unchanged') await this.writes.completeUnchanged(write, userId, done.answer);
    return answerOf(done.answer.profile);
  }
}

function answerOf(profile: Profile): ProfileAnswer {
  return { answer: { profile }, revision: profileTag(profile) };
}
