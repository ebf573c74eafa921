import { oneLine } from '../../http/one-line.js';
import { MAX_ORG_NAME } from '../../orgs/org.entity.js';
import { OwnershipRepository } from '../../orgs/ownership.repository.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { listLimit, printList } from '../print-list.js';
import { withServices } from '../services.js';
import { orgJson, orgLine } from './org-text.js';

/** Compares names here, because databases differ in which letters they take for the same. */
export async function findOrgs(invocation: Invocation): Promise<Report> {
  const part = oneLine(invocation.parameters[0], MAX_ORG_NAME);
  if (part === undefined) throw new CannotRunError(`expected 1 to ${MAX_ORG_NAME} characters of a name`);
  listLimit(invocation.options);
  const wanted = comparable(part);
  return withServices((services) =>
    printList(invocation, {
      findPage: (after, limit) => services.get(OwnershipRepository).findPage(limit, after?.id),
      isShown: ({ name }) => comparable(name).includes(wanted),
      lineOf: orgLine,
      jsonOf: orgJson,
      none: 'none',
    }),
  );
}

function comparable(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
