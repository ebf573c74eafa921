import { UserParts } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command.js';
import { type Services, withServices } from '../services.js';
import { timeText } from '../times.js';
import { findUser } from '../users/find-user.js';
import { userJson } from '../users/user-text.js';
import { write } from '../write.js';
import { type DocumentParts, writeDocument } from './write-document.js';

/** Writes page by page, because a record can be long. */
export function exportUser({ parameters, options }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const parts: DocumentParts = {
      exportedAt: timeText(Date.now()),
      account: userJson(user),
      ...listsOf(services, user),
    };
    await writeDocument(parts, options['json'] === true ? '' : '\n', write);
    return { lines: [], json: [] };
  });
}

function listsOf(services: Services, user: UserProfile): DocumentParts {
  const exported = Object.entries(services.get(UserParts).exported.named());
  return Object.fromEntries(exported.map(([name, rows]) => [name, rows.of(user)]));
}
