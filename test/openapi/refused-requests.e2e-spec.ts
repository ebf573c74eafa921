import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../support/service.js';
import { DocumentReader } from './documented.js';

let service: Service;
let reader: DocumentReader;

beforeAll(async () => {
  service = await startService();
  reader = await DocumentReader.of(service);
});
afterAll(() => service.stop());

const takesForm = (requestBody: { content: object } = { content: {} }): boolean =>
  'application/x-www-form-urlencoded' in requestBody.content;

/** The caller checks each answer against the document. */
it.each([
  ['malformed_json', 'application/json', '['],
  ['body_too_large', 'application/json', ' '.repeat(17_000)],
  ['unsupported_media_type', 'text/plain', 'text'],
])('documents %s for every operation that reads a body', async (code, type, body) => {
  for (const { method, path, operationId, requestBody } of reader.operations) {
    if (method === 'GET') continue;
    if (code === 'malformed_json' && takesForm(requestBody)) continue;
    const request = { headers: { 'content-type': type }, body };
    const answer = await service.anyone.send(method, path.replaceAll(/\{\w+\}/g, 'x'), request);
    expect(answer.body, operationId).toMatchObject({ code });
  }
});

it('documents validation_failed for every operation with a query', () => {
  const withQuery = reader.operations.filter(({ parameters = [] }) =>
    parameters.some((parameter) => reader.resolve(parameter).in === 'query'),
  );
  const without = withQuery.filter(
    ({ responses }) =>
      !reader
        .problemsOf(reader.resolve(responses['400'] ?? {}))
        .some(([code]) => code === 'validation_failed'),
  );
  expect(withQuery.length).toBeGreaterThan(10);
  expect(without.map(({ operationId }) => operationId)).toEqual([]);
});
