import type { OpenAPIObject } from '@nestjs/swagger';
import { WRITE_PARAMETERS } from '#src/openapi/decorators';

type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type Response = Exclude<Operation['responses'][string], undefined | { $ref: string }>;

export type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

export const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

export function operationsOf({ paths }: Pick<OpenAPIObject, 'paths'>): Operation[] {
  return Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
}

/** `Idempotency-Key` means something else at the exchange of a one-time code, so the name alone does not decide. */
export function isParameter(
  parameter: NonNullable<Operation['parameters']>[number],
  { name, description }: { name: string; description: string },
): boolean {
  return 'name' in parameter && parameter.name === name && parameter.description === description;
}

type Parameters = NonNullable<NonNullable<OpenAPIObject['components']>['parameters']>;

export function shareParameters(document: OpenAPIObject): void {
  const parameters: Parameters = {};
  for (const operation of operationsOf(document)) {
    operation.parameters = operation.parameters?.map((parameter) => {
      const isShared = Object.values(WRITE_PARAMETERS).some((one) => isParameter(parameter, one));
      if ('$ref' in parameter || !isShared) return parameter;
      parameters[parameter.name] = parameter;
      return { $ref: `#/components/parameters/${parameter.name}` };
    });
  }
  document.components = { ...document.components, parameters };
}
