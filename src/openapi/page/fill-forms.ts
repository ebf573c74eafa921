interface Change {
  value: unknown;
  pathMethod: [path: string, method: string];
}

type Action<Payload> = (payload: Payload) => unknown;

/** The parts of Swagger UI's system in use here. */
interface System {
  specSelectors: { specJson(): { toJS(): { paths: Record<string, Record<string, unknown>> } } };
  specActions: {
    changeParam(
      operation: [path: string, method: string],
      name: string,
      place: string,
      value: string,
      isXml: boolean,
    ): void;
  };
}

/** Kept by rememberAnswer. */
interface Page {
  known?: { refreshToken?: string; code?: string; challenge?: string; ids?: Record<string, string> };
}

// A plugin of Swagger UI: forms begin with the ids, tokens and codes of the last answers, or with none,
// because every call fails with the examples. The page gets the text of this function, so it uses nothing around it.
export function fillForms(system: System): object {
  const page = globalThis as Page;
  const refreshTokenOfExamples =
    '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e.1.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const challengeOfExamples =
    '019a8f3e-5c1d-7e2f-8a3b-4c5d6e7f8091.0.1795338000000.1795338300000.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const codeOfExamples = '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const userOfExamples = '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d';

  const fillBody = (text: string): string =>
    text
      .replace(refreshTokenOfExamples, page.known?.refreshToken ?? '')
      .replace(challengeOfExamples, page.known?.challenge ?? '')
      .replace(codeOfExamples, page.known?.code ?? '')
      .replace(userOfExamples, page.known?.ids?.['userId'] ?? '');
  const fillPaths = (): void => {
    const ids = Object.entries(page.known?.ids ?? {});
    if (ids.length === 0) return;
    for (const [path, item] of Object.entries(system.specSelectors.specJson().toJS().paths)) {
      for (const [name, id] of ids.filter(([one]) => path.includes(`{${one}}`))) {
        for (const method of Object.keys(item))
          system.specActions.changeParam([path, method], name, 'path', id, false);
      }
    }
  };

  const setRequestBodyValue =
    (original: Action<Change>): Action<Change> =>
    (change) =>
      original(typeof change.value === 'string' ? { ...change, value: fillBody(change.value) } : change);
  const updateJsonSpec =
    (original: Action<object>): Action<object> =>
    (document) => {
      original(document);
      fillPaths();
    };
  return {
    rootInjects: { fillPaths },
    statePlugins: {
      oas3: { wrapActions: { setRequestBodyValue } },
      spec: { wrapActions: { updateJsonSpec } },
    },
  };
}
