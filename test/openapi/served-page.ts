import { createContext, runInContext } from 'node:vm';
import type { Service } from '../support/service.js';

interface Options {
  persistAuthorization: boolean;
  filter: boolean;
  spec: { paths: Record<string, Record<string, unknown>> };
  responseInterceptor(answer: { url: string; ok: boolean; obj?: unknown }): unknown;
  operationsSorter(one: Operation, other: Operation): number;
  plugins: (() => Plugin)[];
}

interface Operation {
  get(key: 'method'): string;
}

interface Plugin {
  wrapComponents?: { response: (original: unknown, system: object) => (properties: object) => unknown };
  statePlugins?: {
    oas3: {
      wrapActions: { setRequestBodyValue: (original: (change: Body) => void) => (change: Body) => void };
    };
  };
}

interface Body {
  value: string;
  pathMethod: [path: string, method: string];
}

/** The scripts of the page as they are served, without a browser: whatever else they use is not there. */
export class ServedPage {
  options: Options;
  token: string | undefined;
  readonly parameters = new Map<string, string>();
  readonly bodies = new Map<string, string>();

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
    return page;
  }

  private open(options: Options): object {
    this.options = options;
    return {
      preauthorizeApiKey: (_scheme: 'bearer', token: string) => (this.token = token),
      authActions: { logout: () => (this.token = undefined) },
      specSelectors: { specJson: () => ({ toJS: () => options.spec }) },
      specActions: {
        changeParam: ([path, method]: [string, string], name: string, _place: 'path', value: string) =>
          this.parameters.set(`${method} ${path} ${name}`, value),
      },
      oas3Selectors: { requestBodyValue: (path: string) => this.bodies.get(path) },
      oas3Actions: { setRequestBodyValue: (change: Body) => this.setBody(change) },
    };
  }

  answered(path: string, obj: unknown, { origin = this.origin, ok = true } = {}): void {
    this.options.responseInterceptor({ url: `${origin}${path}`, ok, obj });
  }

  /** As Swagger UI does when a form opens, and when somebody types into it. */
  setBody(change: Body): void {
    const set = ({ value, pathMethod: [path] }: Body): void => void this.bodies.set(path, value);
    const wraps = this.plugins().flatMap(({ statePlugins }) => statePlugins ?? []);
    wraps.reduce((inner, { oas3 }) => oas3.wrapActions.setRequestBodyValue(inner), set)(change);
  }

  plugins(): Plugin[] {
    return this.options.plugins.map((plugin) => plugin());
  }
}
