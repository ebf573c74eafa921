import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Answer } from './answer.js';

interface Header {
  $ref?: string;
  required?: boolean;
  schema?: object;
}

interface ResponseObject {
  $ref?: string;
  headers?: Record<string, Header>;
  content?: Record<string, { schema?: object }>;
}

type Operation = { responses: Record<string, ResponseObject> };

interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components?: {
    schemas?: Record<string, object>;
    headers?: Record<string, Header>;
    responses?: Record<string, ResponseObject>;
  };
}

class Contract {
  private readonly operations: { method: string; pattern: RegExp; pointer: string; operation: Operation }[];
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly ajv = new Ajv({ strict: false, allErrors: true });
  private readonly headerNames: Set<string>;

  constructor(private readonly document: OpenApiDocument) {
    addFormats.default(this.ajv);
    this.ajv.addSchema(document, 'open');
    this.ajv.addSchema(withoutFurtherProperties(document) as object, 'closed');
    this.operations = Object.entries(document.paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}(\\?.*)?$`),
        pointer: `#/paths/${escapePointer(template)}/${method}/responses`,
        operation,
      })),
    );
    const responses = [
      ...this.operations.flatMap(({ operation }) => Object.values(operation.responses)),
      ...Object.values(document.components?.responses ?? {}),
    ];
    this.headerNames = new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)));
  }

  check(method: string, path: string, answer: Answer): void {
    const found = this.operations.find((one) => one.method === method && one.pattern.test(path));
    if (!found) return;
    const { operation, pointer } = found;
    const status = String(answer.status);
    const key = status in operation.responses ? status : 'default';
    const response = operation.responses[key];
    if (!response)
      throw new Error(`${method} ${path} answered ${status}, which its documentation does not know`);

    const type = (answer.headers.get('content-type') ?? '').split(';')[0]!;
    const [target, at] = this.resolve(response, `${pointer}/${key}`);
    this.checkHeaders(`${method} ${path} answered ${status}`, target, answer.headers);
    if (!target.content?.[type]) {
      if (answer.text === '') return;
      throw new Error(
        `${method} ${path} answered ${status} as ${type}, which its documentation does not know`,
      );
    }
    // Only success bodies are closed: problem details may carry extensions.
    const schema = `${answer.status < 400 ? 'closed' : 'open'}${at}/content/${escapePointer(type)}/schema`;
    const faults = this.faults(schema, answer.body);
    if (faults) {
      throw new Error(
        `${method} ${path} answered ${status} against its documentation: ${faults}\n${answer.text}`,
      );
    }
  }

  /** Every header that the response requires, none that only other responses have, in their documented form. */
  private checkHeaders(what: string, { headers = {} }: ResponseObject, answered: Headers): void {
    for (const name of this.headerNames) {
      const value = answered.get(name);
      const documented = headers[name];
      const key = documented?.$ref?.split('/').at(-1);
      const header = key === undefined ? documented : (this.document.components?.headers?.[key] ?? {});
      if (value === null && header?.required) throw new Error(`${what} without ${name}`);
      if (value === null) continue;
      if (!header) throw new Error(`${what} with ${name}, which its documentation does not know`);
      if (!this.ajv.validate(header.schema ?? {}, /^\d+$/.test(value) ? Number(value) : value))
        throw new Error(`${what} with ${name}: ${value}, against its documentation`);
    }
  }

  /** @param schema `open` or `closed`, and a JSON pointer as a fragment of a URI */
  faults(schema: string, value: unknown): string | undefined {
    const validate = this.validators.get(schema) ?? this.ajv.compile({ $ref: schema });
    this.validators.set(schema, validate);
    if (validate(value)) return undefined;
    return JSON.stringify(
      validate.errors?.map(({ instancePath, message, params }) => [instancePath, message, params]),
    );
  }

  private resolve(response: ResponseObject, at: string): [ResponseObject, string] {
    if (response.$ref === undefined) return [response, at];
    const name = response.$ref.split('/').at(-1)!;
    return [this.document.components?.responses?.[name] ?? {}, response.$ref];
  }
}

export const contract = new Contract(
  JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as OpenApiDocument,
);

function withoutFurtherProperties(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutFurtherProperties);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withoutFurtherProperties(value)]),
  );
  return 'properties' in copy && copy['type'] === 'object' ? { ...copy, additionalProperties: false } : copy;
}

/** A step of a JSON pointer in a fragment of a URI (RFC 6901 section 6). */
export function escapePointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}
