import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER_KINDS, type CallerKind } from '../../src/access/route-access.js';
import { type Service, startService } from '../support/service.js';
import type { Document } from '../openapi/documented.js';

/** Every code of `addMember` and no other; one without the schema of its own has no `errors` and no `requiredRole`. */
const EXPLAIN = `
export function explain(problem: Problem): string {
  switch (problem.code) {
    case 'validation_failed':
      return problem.errors.map(({ field, message }) => field + ' ' + message).join();
    case 'insufficient_role':
      return problem.requiredRole satisfies 'member' | 'admin' | 'owner';
    case 'malformed_json': case 'insufficient_scope': case 'unauthorized': case 'invalid_token': case 'not_a_member': case 'email_not_verified':
    case 'second_factor_required_by_org':
    case 'org_not_found': case 'user_not_found': case 'already_member': case 'user_has_too_many_orgs':
    case 'precondition_failed': case 'idempotency_key_reused': case 'body_too_large': case 'unsupported_media_type':
    case 'rate_limited': case 'internal_error': case 'unavailable': case 'storage_full':
      return problem.detail;
    default:
      return problem satisfies never;
  }
}
`;

/** A refresh token and its time of expiry are optional: a response has them if the request asked for them. */
const KEEP = `
export function keep(result: LoginResponse): string {
  // @ts-expect-error not in every response
  const unchecked: string = result.refreshToken;
  return (result.token satisfies string) + (result.refreshToken ?? unchecked) + (result.expiresAt ?? '');
}
`;

/** An event is one of its type, and has what that type has. */
const FOLLOW = `
export function follow(event: FeedEvent): string | null {
  switch (event.type) {
    case 'session.ended':
      return 'all' in event.data ? (event.userId satisfies string) : event.sessionId;
    case 'member.role_changed':
      return (event.orgId satisfies string) + (event.data.to satisfies 'member' | 'admin' | 'owner');
    default:
      // @ts-expect-error not of every event
      return event.data.to;
  }
}
`;

/** What somebody writes who uses the generated code, by the folder that it is in. */
const CONSUMERS = {
  'openapi-typescript': `
import type { operations } from './schema';

type Responses = operations['addMember']['responses'];
type Problem = Responses[Exclude<keyof Responses, 201>]['content']['application/problem+json'];
${EXPLAIN}
type Listed = operations['listMembers']['responses'][200];
export const next = ({ nextCursor }: Listed['content']['application/json']): string | undefined => nextCursor;
export const link = ({ Link }: Listed['headers']): string | undefined => Link;
export const path: operations['removeMember']['parameters']['path'] = { orgId: 'o', userId: 'u' };

type LoginResponse = operations['login']['responses'][200]['content']['application/json'];
${KEEP}
type Feed = operations['listEvents']['responses'][200]['content']['application/json'];
type FeedEvent = Feed['events'][number];
${FOLLOW}
type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;
export const removals: Query<'removeMember'>[] = [{}, { dryRun: false }, { dryRun: true, remedy: false }];
export const endings: Query<'revokeSessions'>[] = [{}, { all: false }];
// @ts-expect-error no text
export const text: Query<'removeMember'> = { dryRun: 'false' };
type Transfer = operations['transferOrg']['requestBody']['content']['application/json'];
export const transfers: Transfer[] = [{ userId: 'u' }, { userId: 'u', leave: false }];
`,
  orval: `
import { addMember, type addMemberResponseError, revokeSessions, listMembers, removeMember, transferOrg } from './client';
import type { FeedResponse, LoginResponse } from './client';

type Problem = addMemberResponseError['data'];
${EXPLAIN}
export async function add(orgId: string): Promise<string> {
  const answer = await addMember(orgId, { email: 'grace@example.com', role: 'member' });
  return answer.status === 201 ? answer.data.member.role : explain(answer.data);
}

export async function next(orgId: string): Promise<string | undefined> {
  const page = await listMembers(orgId, { limit: 100 });
  return page.status === 200 ? page.data.nextCursor : undefined;
}
${KEEP}
type FeedEvent = FeedResponse['events'][number];
${FOLLOW}
export async function change(orgId: string, userId: string): Promise<void> {
  await removeMember(orgId, userId);
  await removeMember(orgId, userId, { dryRun: false, remedy: false });
  // @ts-expect-error no text
  await removeMember(orgId, userId, { dryRun: 'false' });
  await revokeSessions({ all: false });
  await transferOrg(orgId, { userId });
  await transferOrg(orgId, { userId, leave: false });
}
`,
  'hey-api': `
import { addMember, revokeSessions, listMembers, removeMember, transferOrg } from './client';
import type { AddMemberError as Problem, FeedResponse, LoginResponse } from './client';
${EXPLAIN}
export async function add(orgId: string): Promise<string> {
  const { data, error } = await addMember({ path: { orgId }, body: { email: 'grace@example.com', role: 'member' } });
  return error === undefined ? data.member.role : explain(error);
}

export async function next(orgId: string): Promise<string | undefined> {
  const { data } = await listMembers({ path: { orgId }, query: { limit: 100 } });
  return data?.nextCursor;
}
${KEEP}
type FeedEvent = FeedResponse['events'][number];
${FOLLOW}
export async function change(orgId: string, userId: string): Promise<void> {
  const path = { orgId, userId };
  await removeMember({ path });
  await removeMember({ path, query: { dryRun: false, remedy: false } });
  // @ts-expect-error no text
  await removeMember({ path, query: { dryRun: 'false' } });
  await revokeSessions({ query: { all: false } });
  await transferOrg({ path: { orgId }, body: { userId } });
  await transferOrg({ path: { orgId }, body: { userId, leave: false } });
}
`,
};

type Generator = keyof typeof CONSUMERS;

/** As their manuals say, and nothing more. */
const COMMANDS: Record<Generator, string> = {
  'openapi-typescript': 'openapi-typescript/bin/cli.js openapi.json --output openapi-typescript/schema.ts',
  orval: 'orval/dist/bin/orval.mjs --input openapi.json --output orval/client.ts --client fetch',
  'hey-api': '@hey-api/openapi-ts/bin/run.js --input openapi.json --output hey-api/client --no-log-file',
};

/** Orval names the union of an operation's responses and the code of a problem so; schemas have similar names. */
const TWINS: Partial<Record<Generator, string[]>> = {
  orval: ['loginResponse', 'refreshResponse', 'SecondFactorRequiredProblemCode'],
};

const GENERATORS = Object.keys(COMMANDS) as Generator[];

const STRICT = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    target: 'ES2024',
    lib: ['ES2024', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'bundler',
    types: [],
    // Of the libraries that come with the compiler: nothing that is generated ends in .d.ts.
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['openapi-typescript', 'orval', 'hey-api/client/types.gen.ts'],
};

/** The client that hey-api copies beside what it generates, whatever the document, does without that one rule. */
const BUT_ONE = { compilerOptions: { exactOptionalPropertyTypes: false }, include: ['.'] };

describe('code generated from the OpenAPI document', () => {
  let service: Service;
  let document: Document;
  let directory: string;

  beforeAll(async () => {
    service = await startService();
    directory = await mkdtemp(join(tmpdir(), 'generated-'));
    ({ body: document } = await service.anyone.get<Document>('/openapi.json'));
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    await writeFile(join(directory, 'openapi.json'), JSON.stringify(document));
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(STRICT));
    await Promise.all([...GENERATORS.map(generate), ...CALLER_KINDS.map(generateTypes)]);
    await writeFile(
      join(directory, 'hey-api/tsconfig.json'),
      JSON.stringify({ extends: '../tsconfig.json', ...BUT_ONE }),
    );
  });
  afterAll(async () => {
    await rm(directory, { recursive: true });
    await service.stop();
  });

  async function generate(generator: Generator): Promise<void> {
    await mkdir(join(directory, generator));
    await writeFile(join(directory, generator, 'consumer.ts'), CONSUMERS[generator]);
    await run(COMMANDS[generator]);
  }

  /** The smallest of the three, from the document of one kind of callers. */
  async function generateTypes(callers: CallerKind): Promise<void> {
    const { text } = await service.anyone.get(`/openapi/${callers}.json`);
    await writeFile(join(directory, `${callers}.json`), text);
    const output = `openapi-typescript/callers/${callers}.ts`;
    await run(`openapi-typescript/bin/cli.js ${callers}.json --output ${output}`);
  }

  async function run(command: string): Promise<string> {
    const [bin, ...parameters] = command.split(' ');
    const program = resolve('node_modules', bin!);
    const running = promisify(execFile)(process.execPath, [program, ...parameters], { cwd: directory });
    const { stdout } = await running.catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${bin}:\n${error.stdout}${error.stderr}`, { cause: error });
    });
    return stdout;
  }

  it('compiles in strict mode, with clients that narrow failures by code', async () => {
    const compiled = await Promise.all(
      ['.', 'hey-api'].map((project) => run(`typescript/bin/tsc --project ${project}`)),
    );
    expect(compiled).toEqual(['', '']);
  });

  it.each(GENERATORS)('has no near-duplicate names of types from %s', (generator) => {
    const schemas = Object.keys(document.components.schemas);
    const names = new Set([...schemas, ...exportedTypes(generator)]);
    const twins = schemas.flatMap((schema) =>
      [...names].filter((name) => name !== schema && wordsOf(name) === wordsOf(schema)),
    );
    expect(names.size).toBeGreaterThan(schemas.length);
    expect(twins).toEqual(TWINS[generator] ?? []);
  });

  function exportedTypes(generator: Generator): string[] {
    const files = globSync(join(directory, generator, '**/*.ts'));
    return files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name!),
    );
  }
});

/** In any order. */
function wordsOf(name: string): string {
  const words = name.match(/[A-Z]?[a-z]+|\d+/g) ?? [];
  return words
    .map((word) => word.toLowerCase())
    .toSorted()
    .join(' ');
}
