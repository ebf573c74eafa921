import type { Component, Immutable, System } from './answers.ts';

interface FormSchema {
  properties: Record<string, { type: string; description?: string; example?: unknown }>;
  required?: string[];
}

interface Body {
  requestBody: Immutable;
  requestBodyValue: string | null;
  onChange(text: string): void;
}

// A plugin of Swagger UI. Operators fill in one field for each property of a body, and the page sends only what they filled
// in. The page gets the text of this function, so that it uses nothing around it.
export function askForFields(): object {
  /** The plugin `fillForms` replaces their examples. */
  const known = new Set(['challenge', 'userId']);
  /** A user can type anything into the body of another document. */
  const parse = (text: string | null): Record<string, unknown> => {
    try {
      return (JSON.parse(text ?? '') ?? {}) as Record<string, unknown>;
    } catch {
      return {};
    }
  };
  const wrap = (Original: Component<Body>, system: System): Component<Body> => {
    const { React } = system;
    const Form: Component<Body> = (body) => {
      const schema = body.requestBody.getIn(['content', 'application/json', 'schema']) as Immutable;
      const { properties, required = [] } = schema.toJS() as FormSchema;
      const values = parse(body.requestBodyValue);
      const change = (next: object): void => body.onChange(JSON.stringify(next));
      React.useEffect(() => {
        const begun = Object.entries(properties).filter(([name]) => known.has(name));
        change(Object.fromEntries(begun.map(([name, { example }]) => [name, example])));
      }, []);

      const cell = (className: string, ...children: unknown[]): unknown =>
        React.createElement('td', { className }, ...children);
      const rows = Object.entries(properties).map(([name, { type, description }]) => {
        const isFlag = type === 'boolean';
        const onChange = ({ target }: { target: { checked: boolean; value: string } }): void => {
          const { [name]: _, ...others } = values;
          const value = isFlag ? target.checked : target.value;
          change(value ? { ...others, [name]: value } : others);
        };
        const state = isFlag ? { checked: values[name] === true } : { value: values[name] ?? '' };
        const kind = isFlag ? 'checkbox' : name === 'password' ? 'password' : 'text';
        const input = { name, 'aria-label': name, type: kind, onChange, ...state };
        const title = { className: `parameter__name ${required.includes(name) ? 'required' : ''}` };
        const words = React.createElement(system.getComponent('Markdown', true), { source: description });
        const left = cell('parameters-col_name', React.createElement('div', title, name));
        const right = cell('parameters-col_description', React.createElement('input', input), words);
        return React.createElement('tr', { key: name }, left, right);
      });
      const table = React.createElement('tbody', null, rows);
      return React.createElement('table', { className: 'parameters fields' }, table);
    };
    return (body) => {
      const isForm = system.specSelectors.url().endsWith('/operators.json');
      return React.createElement(isForm ? Form : Original, body);
    };
  };
  return { wrapComponents: { RequestBody: wrap } };
}
