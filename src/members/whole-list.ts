import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { ListedMemberResponse } from './dto/member.responses.js';
import type { MemberListService } from './member-list.service.js';

const PAGE = 1000;

/**
 * A JSON document that holds every member of an organization: an object for an organization of usual size,
 * a stream of pages for a larger one, so that memory does not grow with it.
 *
 * @param wrap puts a list of members into its document; of a stream it is given an empty list
 */
export async function wholeList<T extends object>(
  list: MemberListService,
  orgId: string,
  wrap: (members: ListedMemberResponse[]) => T,
): Promise<T> {
  const members = await list.findAll(orgId);
  if (members) return wrap(members);

  const frame = JSON.stringify(wrap([]));
  const middle = frame.lastIndexOf('[]') + 1;
  const chunks = streamMembers(list, orgId, frame.slice(0, middle), frame.slice(middle));
  // Nest sends it as it is; for the handler it stands for the document.
  return new StreamableFile(Readable.from(chunks), {
    type: 'application/json; charset=utf-8',
  }) as unknown as T;
}

async function* streamMembers(
  list: MemberListService,
  orgId: string,
  before: string,
  after: string,
): AsyncGenerator<string> {
  let page = await list.findPage(orgId, PAGE);
  yield before + inner(page.members);
  while (page.next) {
    page = await list.findPage(orgId, PAGE, page.next);
    if (page.members.length > 0) yield `,${inner(page.members)}`;
  }
  yield after;
}

function inner(members: ListedMemberResponse[]): string {
  return JSON.stringify(members).slice(1, -1);
}
