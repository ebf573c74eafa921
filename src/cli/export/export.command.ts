import { documentText } from '../../users/document-text.js';
import { UserExport } from '../../users/user-export.js';
import type { Invocation, Report } from '../command.js';
import { withServices } from '../services.js';
import { findUser } from '../users/find-user.js';
import { write } from '../write.js';

/** Writes page by page, because a record can be long. */
export function exportUser({ parameters, options }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const document = services.get(UserExport).documentOf(user);
    for await (const text of documentText(document, options['json'] === true ? '' : '\n')) await write(text);
    return { lines: [], json: [] };
  });
}
