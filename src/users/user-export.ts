import { Injectable } from '@nestjs/common';
import type { DocumentParts } from './document-text.js';
import { userJson } from './user-json.js';
import { UserParts } from './user-parts.js';
import type { UserProfile } from './users.repository.js';

/** All data about one user, to answer an access request: no secret, and nothing about others. */
@Injectable()
export class UserExport {
  constructor(private readonly parts: UserParts) {}

  documentOf(user: UserProfile): DocumentParts {
    const lists = Object.entries(this.parts.exported.named());
    return {
      exportedAt: new Date().toISOString(),
      account: userJson(user),
      ...Object.fromEntries(lists.map(([name, rows]) => [name, rows.of(user)])),
    };
  }
}
