/** What the OpenAPI document of Accounts uses of JSON Schema. */
export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  enum?: unknown[];
  nullable?: boolean;
  allOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}

const KEYWORDS = new Map(
  Object.entries({ integer: 'number', number: 'number', string: 'string', boolean: 'boolean' }),
);

export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** @param forRequests whether a property that may be absent may also be given as undefined, which JSON leaves out */
export function typeOf(schema: Schema, forRequests = false): string {
  const type = bareTypeOf(schema, forRequests);
  return schema.nullable === true ? `${type} | null` : type;
}

function bareTypeOf(schema: Schema, forRequests: boolean): string {
  const inner = (one: Schema): string => grouped(typeOf(one, forRequests));
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.allOf) return schema.allOf.map(inner).join(' & ');
  if (schema.oneOf) return schema.oneOf.map(inner).join(' | ');
  if (schema.enum) return literals(schema.enum);
  if (schema.type === 'array') return `${inner(schema.items ?? {})}[]`;
  if (schema.properties) return objectType(schema.properties, schema.required ?? [], forRequests);
  if (typeof schema.additionalProperties === 'object')
    return `Record<string, ${inner(schema.additionalProperties)}>`;
  if (schema.type === 'object') return 'Record<string, unknown>';
  return KEYWORDS.get(schema.type ?? '') ?? 'unknown';
}

function objectType(properties: Record<string, Schema>, required: string[], forRequests: boolean): string {
  const lines = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    const type = typeOf(schema, forRequests) + (forRequests && !isRequired ? ' | undefined' : '');
    return `${comment(schema.description)}${propertyName(name)}${isRequired ? '' : '?'}: ${type};`;
  });
  return `{\n${lines.join('\n')}\n}`;
}

export function comment(text: string | undefined): string {
  return text ? `/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s*\n\s*/g, ' ')} */\n` : '';
}

const propertyName = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name));

const grouped = (type: string): string => (/ [|&] /.test(type) && !type.startsWith('{') ? `(${type})` : type);

export function literals(values: unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(' | ') || 'never';
}
