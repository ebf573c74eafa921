import { createContext, runInContext } from 'node:vm';
import type { Service } from '../support/service.js';
import type { Document } from './documented.js';

interface Options {
  persistAuthorization: boolean;
  filter: boolean;
  operatorsLoginAge: number;
  spec: object;
  urls: { name: string; url: string }[];
  responseInterceptor(answer: { url: string; ok: boolean; status: number; obj?: unknown }): unknown;
  operationsSorter(one: Method, other: Method): number;
  plugins: ((system: object) => Plugin)[];
}

type Method = { get(key: 'method'): string };
type Action<Payload> = (payload: Payload) => void;
type Wrap<Payload> = (original: Action<Payload>) => Action<Payload>;

interface Plugin {
  wrapComponents?: { response: (original: unknown, system: object) => (properties: object) => unknown };
  rootInjects?: object;
  statePlugins?: {
    auth?: { wrapActions: { restoreAuthorization: Wrap<object> } };
    oas3?: { wrapActions: { setRequestBodyValue: Wrap<Body> } };
    spec?: { wrapActions: { updateJsonSpec: Wrap<Document> } };
  };
}

interface Body {
  value: string;
  pathMethod: [path: string, method: string];
}

/** The scripts of the page as they are served, without a browser: whatever else they use is not there. */
export class ServedPage {
  options: Options;
  plugins: Plugin[];
  token: string | undefined;
  readonly parameters = new Map<string, string>();
  readonly bodies = new Map<string, string>();
  readonly opened: string[] = [];
  /** by the names that the selector shows */
  private readonly documents = new Map<string, Document>();
  private document: Document;

  private constructor(readonly origin: string) {}

  static async of(service: Service): Promise<ServedPage> {
    const page = new ServedPage(service.url);
    const { text } = await service.anyone.get('/docs/swagger-ui-init.js');
    const bundle = (options: Options): object => page.open(options);
    const globals: Record<string, unknown> = {
      SwaggerUIBundle: Object.assign(bundle, { presets: {}, plugins: {} }),
      SwaggerUIStandalonePreset: {},
      URL,
      location: { origin: page.origin, search: '' },
    };
    globals['window'] = createContext(globals);
    runInContext(`${text}; window.onload();`, globals);
    for (const { name, url } of page.options.urls)
      page.documents.set(name, (await service.anyone.get<Document>(url)).body);
    page.select(page.options.urls[0]!.name);
    return page;
  }

  private open(options: Options): object {
    this.options = options;
    const system = {
      preauthorizeApiKey: (_scheme: 'bearer', token: string) => (this.token = token),
      authActions: { logout: () => (this.token = undefined) },
      specSelectors: { specJson: () => ({ toJS: () => this.document }) },
      specActions: {
        changeParam: ([path, method]: [string, string], name: string, _place: 'path', value: string) =>
          this.parameters.set(`${method} ${path} ${name}`, value),
      },
      layoutActions: { show: (place: string[]) => this.opened.push(place.at(-1)!) },
      oas3Selectors: { requestBodyValue: (path: string) => this.bodies.get(path) },
      oas3Actions: { setRequestBodyValue: (change: Body) => this.setBody(change) },
    };
    this.plugins = options.plugins.map((plugin) => plugin(system));
    return Object.assign(system, ...this.plugins.map(({ rootInjects }) => rootInjects));
  }

  answered(path: string, obj: unknown, { origin = this.origin, ok = true, status = 200 } = {}): void {
    this.options.responseInterceptor({ url: `${origin}${path}`, ok, status, obj });
  }

  /** As the selector of Swagger UI does: it forgets every token, and then loads the document. */
  select(name: string): void {
    const forget = this.wrapped<object>(
      ({ auth }) => auth?.wrapActions.restoreAuthorization,
      () => (this.token = undefined),
    );
    const load = this.wrapped<Document>(
      ({ spec }) => spec?.wrapActions.updateJsonSpec,
      (document) => (this.document = document),
    );
    forget({ authorized: {} });
    load(this.documents.get(name)!);
  }

  /** As Swagger UI does when a form opens, and when somebody types into it. */
  setBody(change: Body): void {
    this.wrapped<Body>(
      ({ oas3 }) => oas3?.wrapActions.setRequestBodyValue,
      ({ value, pathMethod: [path] }) => this.bodies.set(path, value),
    )(change);
  }

  private wrapped<Payload>(
    wrapIn: (plugins: NonNullable<Plugin['statePlugins']>) => Wrap<Payload> | undefined,
    action: Action<Payload>,
  ): Action<Payload> {
    const wraps = this.plugins.flatMap(({ statePlugins = {} }) => wrapIn(statePlugins) ?? []);
    return wraps.reduce((inner, wrap) => wrap(inner), action);
  }
}
