interface Answer {
  code: string;
  response: {
    get(key: 'description'): string;
    getIn(path: string[]): { keySeq(): { toArray(): string[] } } | undefined;
  };
}

type Component = (properties: Answer) => unknown;

interface System {
  React: {
    Fragment: unknown;
    createElement(type: unknown, properties?: object | null, ...children: unknown[]): unknown;
    useState<T>(initial: T): [value: T, set: (value: T) => void];
  };
}

// A plugin of Swagger UI: each documented answer is one line with its status and its codes, and opens when pressed.
// The page gets the text of this function, so it uses nothing around it.
export function foldAnswers(): object {
  const wrap =
    (Original: Component, { React }: System): Component =>
    (properties) => {
      const [isOpen, setOpen] = React.useState(false);
      const { code, response } = properties;
      const codes = response.getIn(['content', 'application/problem+json', 'examples'])?.keySeq().toArray();
      const names = codes?.map((name) => React.createElement('code', { key: name }, name));
      const button = React.createElement(
        'button',
        { type: 'button', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
        React.createElement('b', null, code),
        names ?? React.createElement('span', null, response.get('description')),
      );
      const line = React.createElement(
        'tr',
        { className: 'answer-line', 'data-code': code },
        React.createElement('td', { colSpan: 3 }, button),
      );
      return React.createElement(
        React.Fragment,
        null,
        line,
        isOpen ? React.createElement(Original, properties) : null,
      );
    };
  return { wrapComponents: { response: wrap } };
}
