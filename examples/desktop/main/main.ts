import { join, resolve } from 'node:path';
import { createMainClient } from 'accounts-client/electron';
import * as electron from 'electron';
import { answerDesktopCalls } from './desktop-calls.ts';
import { EngineRoom } from './engine-room.ts';
import { invitationIn, LINK_SCHEME } from './invitation-link.ts';
import { ORIGIN, answerPageFile } from './page-files.ts';

const { app, BrowserWindow, protocol, session } = electron;
const { ACCOUNTS_URL = 'http://127.0.0.1:3000', ENGINE_ROOM_URL = 'http://127.0.0.1:3001' } = process.env;

/** of a link that the page has not taken yet */
let invitation = invitationIn(process.argv.at(-1));
let window: electron.BrowserWindow | undefined;

// Pages get an origin and a secure context. Electron needs to know before it is ready.
protocol.registerSchemesAsPrivileged([
  { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
]);

// The link of an invitation starts the program again, which passes the link to the one that runs.
if (app.requestSingleInstanceLock()) void start();
else app.quit();

async function start(): Promise<void> {
  registerLinks();
  app.on('second-instance', (_event, argv) => openLink(argv.at(-1)));
  app.on('open-url', (_event, url) => openLink(url)); // macOS
  const client = await createMainClient({ electron, baseUrl: ACCOUNTS_URL, origins: [ORIGIN] });
  answerDesktopCalls(client, new EngineRoom(client, ENGINE_ROOM_URL), takeInvitation);
  protocol.handle('app', answerPageFile);
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  window = openWindow();
}

/** The page has no Node.js, stays in this program, and opens no window. */
function openWindow(): electron.BrowserWindow {
  const preload = join(import.meta.dirname, '../preload.cjs');
  const opened = new BrowserWindow({
    width: 960,
    height: 680,
    minWidth: 480,
    webPreferences: { preload, sandbox: true, contextIsolation: true, nodeIntegration: false },
  });
  opened.setMenuBarVisibility(false);
  opened.webContents.setWindowOpenHandler(() => ({ action: 'deny' }));
  opened.webContents.on('will-navigate', (event) => event.preventDefault());
  void opened.loadURL(`${ORIGIN}/index.html`);
  return opened;
}

function openLink(link: string | undefined): void {
  invitation = invitationIn(link) ?? invitation;
  if (window?.isMinimized()) window.restore();
  window?.focus();
  window?.webContents.send('desktop:invitation');
}

function takeInvitation(): string | undefined {
  const code = invitation;
  invitation = undefined;
  return code;
}

/** In development, the system starts Electron with the folder of this program. */
function registerLinks(): void {
  if (process.defaultApp && process.argv[1] !== undefined)
    app.setAsDefaultProtocolClient(LINK_SCHEME, process.execPath, [resolve(process.argv[1])]);
  else app.setAsDefaultProtocolClient(LINK_SCHEME);
}
