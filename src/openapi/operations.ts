import type { OpenAPIObject } from '@nestjs/swagger';

type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type Response = Exclude<Operation['responses'][string], undefined | { $ref: string }>;

export const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

export function operationsOf({ paths }: Pick<OpenAPIObject, 'paths'>): Operation[] {
  return Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
}
