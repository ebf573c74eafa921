import type { BenchOrg } from '../fixture/fixture.ts';
import { expectAnswer, is, isMemberList, isOrgList, isText } from './answer.ts';
import { cycle } from './cycle.ts';
import type { HttpResponse } from './http-response.ts';
import type { Call, Operation } from './call.ts';
import { requestText } from './request.ts';
import type { Side } from './side.ts';

type ReadOperation =
  | 'me'
  | 'organization of 20'
  | 'list of 20'
  | 'organization of 1,000'
  | 'list of 1,000'
  | 'first page of 20'
  | 'whole list';

const PAGE = 20;

export function readOperations(side: Side): Record<ReadOperation, Operation> {
  const { readers, smallOrgs, bigOrgs, readerOrgs } = side.fixture;
  const detail = (org: BenchOrg, token: string): Call =>
    read(`/api/orgs/${org.id}`, token, (response) =>
      expectAnswer(response, 200, {
        org: { id: is(org.id), name: is(org.name), members: isMemberList(org.size) },
      }),
    );
  const list = (org: BenchOrg, token: string): Call =>
    read(`/api/orgs/${org.id}/members`, token, (response) =>
      expectAnswer(response, 200, { members: isMemberList(org.size) }),
    );
  const firstPage = (org: BenchOrg, token: string): Call =>
    read(`/api/orgs/${org.id}/members?limit=${PAGE}`, token, (response) =>
      expectAnswer(response, 200, {
        members: isMemberList(Math.min(PAGE, org.size)),
        ...(org.size > PAGE && { nextCursor: isText }),
      }),
    );
  const forEachReader = (build: (index: number, token: string) => Call): Operation => {
    // Built at the first use, when the readers have logged in.
    let next: Operation | undefined;
    return () => {
      next ??= cycle(readers.map((reader, index) => build(index, side.tokenOf(reader))));
      return next();
    };
  };
  const small = (index: number): BenchOrg => smallOrgs[index]!;
  const big = (index: number): BenchOrg => bigOrgs[index % bigOrgs.length]!;

  return {
    me: forEachReader((index, token) => me(readers[index]!, readerOrgs, token)),
    'organization of 20': forEachReader((index, token) => detail(small(index), token)),
    'list of 20': forEachReader((index, token) => list(small(index), token)),
    'organization of 1,000': forEachReader((index, token) => detail(big(index), token)),
    'list of 1,000': forEachReader((index, token) => list(big(index), token)),
    'first page of 20': forEachReader((index, token) => firstPage(big(index), token)),
    'whole list': forEachReader((index, token) => list(big(index), token)),
  };
}

export function me(user: { id: string; email: string }, orgs: number, token: string): Call {
  return read('/api/me', token, (response) =>
    expectAnswer(response, 200, {
      user: { id: is(user.id), email: is(user.email) },
      orgs: isOrgList(orgs),
    }),
  );
}

/** Nothing that is read here changes, so an answer equal to a checked one needs no second parse. */
function read(path: string, token: string, check: (response: HttpResponse) => void): Call {
  let checked: Buffer | undefined;
  return {
    request: requestText({ method: 'GET', path, token }),
    accept(response) {
      if (response.status === 200 && checked?.equals(response.body)) return;
      check(response);
      checked = Buffer.from(response.body);
    },
  };
}
