import type { Service } from '../support/service.js';

export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  example?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  [keyword: string]: unknown;
}

interface Content {
  schema?: Schema;
  examples?: Record<string, { $ref?: string; value?: Record<string, unknown> }>;
}

export interface DocumentedResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, { $ref?: string }>;
  content?: Record<string, Content>;
}

export interface Documented {
  summary?: string;
  operationId: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, DocumentedResponse>;
}

export interface Document {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string }[];
  security?: object[];
  paths: Record<string, Record<string, Documented>>;
  components: {
    securitySchemes: Record<string, { type: string; scheme: string }>;
    schemas: Record<string, Schema>;
    headers: Record<string, unknown>;
  };
}

export interface DocumentedOperation extends Documented {
  method: string;
  path: string;
  endpoint: string;
}

/** The service's own OpenAPI document, with its references followed. */
export class DocumentReader {
  readonly operations: DocumentedOperation[];

  constructor(readonly document: Document) {
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, documented]) =>
        Object.assign(
          { method: method.toUpperCase(), path, endpoint: `${method.toUpperCase()} ${path}` },
          documented,
        ),
      ),
    );
  }

  static async of(service: Service): Promise<DocumentReader> {
    return new DocumentReader((await service.anyone.get<Document>('/openapi.json')).body);
  }

  resolve<T extends object>(node: T & { $ref?: string }): T {
    if (node.$ref === undefined) return node;
    const keys = node.$ref.slice(2).split('/');
    return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], this.document) as T;
  }

  responsesOf({ responses }: Documented): [string, DocumentedResponse][] {
    return Object.entries(responses).map(([status, response]) => [status, this.resolve(response)]);
  }

  problemsOf(response: DocumentedResponse): [string, Record<string, unknown>][] {
    const examples = response.content?.['application/problem+json']?.examples ?? {};
    return Object.entries(examples).map(([code, example]) => [code, this.resolve(example).value ?? {}]);
  }

  /** The body that Swagger UI sends at first: a named example, or that of the schema. */
  requestExampleOf({ requestBody }: Documented, name?: string): unknown {
    const [{ schema, examples = {} } = {}] = Object.values(requestBody?.content ?? {});
    const example = name === undefined ? Object.values(examples)[0] : examples[name];
    return example ? this.resolve(example).value : schema && this.exampleOf(schema);
  }

  /** What Swagger UI shows for a schema: the examples of its fields, put together. */
  exampleOf(node: Schema): unknown {
    const schema = this.resolve(node);
    if (schema.example !== undefined) return schema.example;
    if (schema.enum) return schema.enum[0];
    if (schema.oneOf) return this.exampleOf(schema.oneOf[0]!);
    if (schema.allOf?.length === 1) return this.exampleOf(schema.allOf[0]!);
    if (schema.items) return [this.exampleOf(schema.items)];
    const properties = Object.entries(schema.properties ?? {});
    return Object.fromEntries(properties.map(([name, property]) => [name, this.exampleOf(property)]));
  }
}

export function* schemasIn(node: unknown): Generator<Schema> {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && typeof node.type === 'string') yield node as Schema;
  for (const [key, inner] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples' && key !== 'securitySchemes') yield* schemasIn(inner);
  }
}
