import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';
import { SHARED_PARAMETERS } from './write-parameters.js';

type Parameters = NonNullable<NonNullable<OpenAPIObject['components']>['parameters']>;

export function shareParameters(document: OpenAPIObject): void {
  const parameters: Parameters = {};
  for (const operation of operationsOf(document)) {
    operation.parameters = operation.parameters?.map((parameter) => {
      if ('$ref' in parameter || !SHARED_PARAMETERS.has(parameter.name)) return parameter;
      parameters[parameter.name] = parameter;
      return { $ref: `#/components/parameters/${parameter.name}` };
    });
  }
  document.components = { ...document.components, parameters };
}
