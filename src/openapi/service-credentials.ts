import type { OpenAPIObject } from '@nestjs/swagger';
import { type Operation, operationsOf } from './operations.js';

/** by which `@ApiBasicAuth()` refers to it */
const NAME = 'basic';

export function takesCredentials({ security = [] }: Operation): boolean {
  return security.some((need) => NAME in need);
}

/** Adds the security scheme of services only where an operation takes their credentials. */
export function describeCredentials(document: Pick<OpenAPIObject, 'paths' | 'components'>): void {
  const isUsed = operationsOf(document).some(takesCredentials);
  if (!isUsed) return;
  const securitySchemes = {
    ...document.components?.securitySchemes,
    [NAME]: { type: 'http', scheme: 'basic', description: 'name and secret of a service' } as const,
  };
  document.components = { ...document.components, securitySchemes };
}
