/** What the plugins use of immutable.js. */
export interface Immutable {
  size: number;
  get(key: string): unknown;
  getIn(path: string[]): unknown;
  map(change: (value: unknown, key: string) => unknown): Immutable;
  filter(isKept: (value: Immutable) => boolean): Immutable;
  update(key: string, change: (value: Immutable) => unknown): Immutable;
  keySeq(): { toArray(): string[] };
  toJS(): unknown;
}

export interface System {
  React: {
    Fragment: unknown;
    createElement(type: unknown, properties?: object | null, ...children: unknown[]): unknown;
    useState<T>(initial: T): [value: T, set: (value: T) => void];
    useEffect(effect: () => void, dependencies: unknown[]): void;
  };
  authSelectors: { authorized(): Immutable };
  specSelectors: { url(): string };
  getComponent(name: string, isContainer: boolean): unknown;
  getConfigs(): { operatorsLoginAge: number };
}

export type Component<Properties> = (properties: Properties) => unknown;

interface ResponseProperties {
  code: string;
  response: Immutable;
}

// A plugin of Swagger UI that folds each documented answer to one line. The page gets the text of each function of this
// folder, so that it uses nothing around it.
function foldAnswers(): object {
  const wrap =
    (Original: Component<ResponseProperties>, { React }: System): Component<ResponseProperties> =>
    (properties) => {
      const [isOpen, setOpen] = React.useState(false);
      const { code, response } = properties;
      const examples = response.getIn(['content', 'application/problem+json', 'examples']);
      const codes = (examples as Immutable | undefined)?.keySeq().toArray();
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
      const answer = isOpen ? React.createElement(Original, properties) : null;
      return React.createElement(React.Fragment, null, line, answer);
    };
  return { wrapComponents: { response: wrap } };
}

// A plugin of Swagger UI that leaves tokens, passwords and codes out of the command for curl.
function hideSecrets(): object {
  const secrets = /("(?:\w*password|code|codeVerifier|challenge|\w*token|secret)": *)"(?:[^"\\]|\\.)*"/gi;
  const hide = (value: unknown, key: string): unknown => {
    if (key === 'headers') return (value as Immutable).map(hide);
    if (key === 'Authorization') return String(value).replace(/ .*/, ' ***');
    return key === 'body' && typeof value === 'string' ? value.replace(secrets, '$1"***"') : value;
  };
  const wrap =
    (Original: Component<object>, { React }: System): Component<{ request: Immutable }> =>
    (properties) =>
      React.createElement(Original, { ...properties, request: properties.request.map(hide) });
  return { wrapComponents: { curl: wrap } };
}

interface Element {
  scrollIntoView(options: { block: 'start' | 'nearest' }): void;
  focus(options: { preventScroll: true }): void;
}

interface ScrolledPage {
  document?: { querySelector(selector: string): Element | null };
  requestAnimationFrame?: (frame: () => void) => void;
}

type Failed = { response?: { obj?: { code?: unknown } } };
type SetResponse = (path: string, method: string, answer: { err?: Failed }) => void;

// A plugin of Swagger UI that scrolls to each answer, and from the first step of a login to the second.
function scrollToAnswers(): object {
  const page = globalThis as ScrolledPage;
  const secondStep = '[id$="-completeLogin"]';
  const find = (selector: string): Element | null => page.document?.querySelector(selector) ?? null;
  /** Swagger UI may need some frames to open the form. */
  const beginSecondStep = (frames = 600): void =>
    page.requestAnimationFrame?.(() => {
      const field = find(`${secondStep} :is([name=code], textarea)`);
      if (!field && frames > 0) return beginSecondStep(frames - 1);
      find(`${secondStep} .opblock-summary`)?.scrollIntoView({ block: 'start' });
      field?.focus({ preventScroll: true });
    });
  const setResponse =
    (original: SetResponse): SetResponse =>
    (path, method, answer) => {
      original(path, method, answer);
      if (answer.err?.response?.obj?.code === 'second_factor_required') return beginSecondStep();
      page.requestAnimationFrame?.(() => {
        for (const part of ['.opblock-summary', '.live-responses-table'])
          find(`.opblock-${method}:has([data-path="${path}"]) ${part}`)?.scrollIntoView({ block: 'nearest' });
      });
    };
  return { statePlugins: { spec: { wrapActions: { setResponse } } } };
}

export const ANSWERS = [foldAnswers, hideSecrets, scrollToAnswers];
