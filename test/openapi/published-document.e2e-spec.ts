import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../support/service.js';

const PUBLISHED = '../../docs/openapi.json';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

it('is the one in the repository; if not: npm run openapi writes it', async () => {
  const { body } = await service.anyone.get('/openapi.json');

  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(PUBLISHED);
});
