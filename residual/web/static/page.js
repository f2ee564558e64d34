// Shows the live picture: asks for a credential where the node wants one, plays /whep, and begins again when it breaks off.
import { play } from './whep-player.js';

const video = document.getElementById('video');
const state = document.getElementById('state');
const login = document.getElementById('login');
const secret = document.getElementById('secret');
const RETRY_MS = 500;
const STORED = 'svc-dashboard-session';

let session = sessionStorage.getItem(STORED);
let key = null;

const credentials = () => ({
  ...(session === null ? {} : { 'x-svc-dashboard-session': session }),
  ...(key === null ? {} : { 'x-svc-key': key }),
});

/** Reads the error sentence of an answer. */
async function sentence(response) {
  const body = await response.json().catch(() => ({}));
  return body.detail ?? `HTTP ${response.status}`;
}

async function watch() {
  for (;;) {
    try {
      state.textContent = 'connecting …';
      const player = await play(video, '/whep', credentials());
      state.textContent = 'live';
      await player.ended;
      state.textContent = 'the picture broke off; connecting again …';
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        session = null;
        key = null;
        sessionStorage.removeItem(STORED);
        state.textContent = error.message;
        login.hidden = false;
        return;
      }
      state.textContent = error.message;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

login.addEventListener('submit', (event) => {
  event.preventDefault();
  void signIn();
});

async function signIn() {
  if (/^[0-9]{4,12}$/.test(secret.value)) {
    const response = await fetch('/api/dashboard/pin/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pin: secret.value }),
    });
    if (!response.ok) {
      state.textContent = await sentence(response);
      return;
    }
    session = (await response.json()).session;
    sessionStorage.setItem(STORED, session);
  } else key = secret.value; // kept for this page only
  secret.value = '';
  login.hidden = true;
  await watch();
}

void watch();
