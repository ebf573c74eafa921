import type { OpenAPIObject } from '@nestjs/swagger';
import { expect, it } from 'vitest';
import { describeCredentials } from './responses.js';

const BEARER = { type: 'http', scheme: 'bearer' } as const;

function schemesWhere(security: Record<string, string[]>[]): string[] {
  const document: Pick<OpenAPIObject, 'paths' | 'components'> = {
    paths: { '/api/auth/introspect': { post: { security, responses: {} } } },
    components: { securitySchemes: { bearer: BEARER } },
  };
  describeCredentials(document);
  return Object.keys(document.components!.securitySchemes!);
}

it('names the scheme of services only where an operation takes their credentials', () => {
  expect(schemesWhere([{ bearer: [] }])).toEqual(['bearer']);
  expect(schemesWhere([{}, { basic: [] }])).toEqual(['bearer', 'basic']);
});
