import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

/** by which `@ApiBasicAuth()` refers to it */
const NAME = 'basic';

/** Adds the security scheme of services only where an operation takes their credentials. */
export function describeCredentials(document: Pick<OpenAPIObject, 'paths' | 'components'>): void {
  const isUsed = operationsOf(document).some(({ security = [] }) => security.some((need) => NAME in need));
  if (!isUsed) return;
  const securitySchemes = {
    ...document.components?.securitySchemes,
    [NAME]: { type: 'http', scheme: 'basic', description: 'name and secret of a service' } as const,
  };
  document.components = { ...document.components, securitySchemes };
}
