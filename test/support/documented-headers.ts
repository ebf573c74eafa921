import type { Ajv, ValidateFunction } from 'ajv';

export interface Header {
  $ref?: string;
  required?: boolean;
  schema?: object;
}

interface WithHeaders {
  headers?: Record<string, Header>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, WithHeaders> }>>;
  components?: { headers?: Record<string, Header>; responses?: Record<string, WithHeaders> };
}

/** Response headers are what an OpenAPI document says of them. */
export class DocumentedHeaders {
  /** those of any response */
  private readonly names: Set<string>;
  private readonly validators = new Map<object, ValidateFunction>();

  constructor(
    private readonly document: Document,
    private readonly ajv: Ajv,
  ) {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const responses = [
      ...operations.flatMap((operation) => Object.values(operation.responses)),
      ...Object.values(document.components?.responses ?? {}),
    ];
    this.names = new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)));
  }

  /**
   * The answer has every header that its response requires, none that only other responses have, and those in
   * their documented form.
   */
  check(what: string, { headers: documented = {} }: WithHeaders, answered: Headers): void {
    for (const name of this.names) {
      const value = answered.get(name);
      const header = documented[name] && this.resolve(documented[name]);
      if (value === null) {
        if (header?.required) throw new Error(`${what} without ${name}`);
        continue;
      }
      if (!header) throw new Error(`${what} with ${name}, which its documentation does not know`);
      if (!this.validator(header)(/^\d+$/.test(value) ? Number(value) : value))
        throw new Error(`${what} with ${name}: ${value}, against its documentation`);
    }
  }

  private resolve({ $ref, ...header }: Header): Header {
    return $ref === undefined ? header : (this.document.components?.headers?.[$ref.split('/').at(-1)!] ?? {});
  }

  private validator({ schema = {} }: Header): ValidateFunction {
    const validate = this.validators.get(schema) ?? this.ajv.compile(schema);
    this.validators.set(schema, validate);
    return validate;
  }
}
