import { afterAll, describe, expect, it } from 'vitest';
import { MailServer } from '../support/mail-server.js';
import { startService } from '../support/service.js';
import { type DocumentedResponse, DocumentReader } from './documented.js';
import {
  collectMailAnswers,
  collectSecondFactorAnswers,
  collectSecondStepAnswers,
} from './account-answers.js';
import { collectLookupAnswers, collectOperatorAnswers, collectServiceAnswers } from './operator-answers.js';
import { collectInvitationAnswers, collectOrgLifeAnswers } from './org-answers.js';
import { ExampleAnswers, SMALL_LIMITS, WRITES_LIMIT } from './example-answers.js';

/** Faults of the service and its database: what a request cannot bring about. */
const FAULTS = new Set(['internal_error', 'unavailable', 'storage_full']);

/** What differs from one installation and one moment to the next. */
const FORMS: [name: string, form: RegExp][] = [
  ['a UUID', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/],
  ['a JWT', /^[\w-]+\.[\w-]+\.[\w-]+$/],
  ['a challenge', /^[\da-f-]{36}(\.\d+){3}\.[\w-]{43}$/],
  ['a code or key', /^[\w-]{43}$/],
  ['a secret of an app', /^[A-Z2-7]{32}$/],
  [
    'a key URI',
    /^otpauth:\/\/totp\/accounts:[\w.%-]+\?secret=[A-Z2-7]{32}&issuer=accounts&algorithm=SHA1&digits=6&period=30$/,
  ],
  ['a recovery code', /^(?:[0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{6}$/],
  ['a typed code', /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/],
  ['a time', /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/],
  ['an engine', /^(?:sqlite|mariadb|mysql)$/],
  ['an address', /^[\d.]{7,15}$/],
  ['a cursor', /^[\w-]{50,}$/],
];

/** Values without a form of their own, by their names. */
const ALWAYS_NEW = new Map([
  ...['kid', 'migration', 'version'].map((name) => [name, 'any text'] as const),
  ...['iat', 'exp', 'auth_time'].map((name) => [name, 'a time'] as const),
]);

const mailServer = await MailServer.start();
const service = await startService({ env: { ...SMALL_LIMITS, ...mailServer.env } });
const withoutMail = await startService({
  env: { ...WRITES_LIMIT, CODE_AUDIENCE: 'required', JWT_ISSUER: 'https://accounts.example.com' },
});
const reader = await DocumentReader.of(service);
const examples = new ExampleAnswers(reader, service);
await collectLookupAnswers(examples, service);
await collectServiceAnswers(examples, service);
await collectOperatorAnswers(examples, service);
await collectMailAnswers(examples, service, mailServer, withoutMail);
await collectOrgLifeAnswers(examples, service);
await collectSecondFactorAnswers(examples, service);
await examples.collect(
  (adaId) => collectSecondStepAnswers(examples, service, adaId),
  (founders) => collectInvitationAnswers(examples, service, withoutMail, founders),
);
await examples.exceedWrites(withoutMail);
for (const { anyone } of [service, withoutMail]) await examples.discover(anyone);
await withoutMail.stop();
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

describe('the examples of the OpenAPI document', () => {
  const documented = (): [name: string, example: unknown][] =>
    reader.operations.flatMap((operation) =>
      reader.responsesOf(operation).flatMap(([status, response]) =>
        status.startsWith('2')
          ? [[`${operation.operationId} ${status}`, successOf(response)] as [string, unknown]]
          : reader
              .problemsOf(response)
              .filter(([code]) => !FAULTS.has(code))
              .map(([code, example]): [string, unknown] => [`${operation.operationId} ${code}`, example]),
      ),
    );

  const successOf = ({ content }: DocumentedResponse): unknown =>
    reader.exampleOf(content!['application/json']!.schema!);

  it('equal the real answers', () => {
    const answered = new Map([...examples.answers].map(([name, { body }]) => [name, normalized(body)]));

    for (const [name, example] of documented()) {
      expect(answered.get(name), `${name}: ${JSON.stringify(example)}`).toEqual(normalized(example));
    }
  });

  it('are complete', () => {
    const names = new Set(documented().map(([name]) => name));

    expect([...examples.answers.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});

/** The same, with its form in place of a value that has one, and limits without their numbers. */
function normalized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalized);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, ALWAYS_NEW.get(key) ?? normalized(inner)]),
    );
  if (typeof value !== 'string') return value;
  return FORMS.find(([, form]) => form.test(value))?.[0] ?? value.replace(/belongs? to \d+/, 'belong to N');
}
