// Shows the live picture: asks for a credential where the node wants one, plays /whep, and begins again when it breaks off.
import { play } from './whep-player.js';

const video = document.getElementById('video');
const state = document.getElementById('state');
const login = document.getElementById('login');
const secret = document.getElementById('secret');
const STORED = 'svc-dashboard-session';
// Between two tries: growing, until a picture comes.
const PAUSE_MS = { first: 250, longest: 15_000, factor: 1.6 };
// A picture that is older is not called live.
const STILL_MS = 2000;
const OFF = 'Video is switched off in the config.';

let session = sessionStorage.getItem(STORED);
let key = null;

const credentials = () => ({
  ...(session === null ? {} : { 'x-svc-dashboard-session': session }),
  ...(key === null ? {} : { 'x-svc-key': key }),
});

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

/** Why this browser can show no picture; null if it can. */
function lacks() {
  if (typeof RTCPeerConnection === 'undefined') return 'This browser has no WebRTC.';
  const known = RTCRtpReceiver.getCapabilities?.('video')?.codecs;
  const has = known?.some(({ mimeType }) => mimeType.toLowerCase() === 'video/h264') ?? true;
  return has ? null : 'This browser has no H.264.';
}

async function watch() {
  const lacking = lacks();
  if (lacking !== null) {
    say(lacking);
    return;
  }
  let pause = PAUSE_MS.first;
  for (;;) {
    say('connecting …');
    try {
      if (await follow(await play(video, '/whep', credentials()))) pause = PAUSE_MS.first;
      say('The picture broke off; connecting again …');
    } catch (error) {
      if (asks(error.status, error.message)) return;
      say(sentence(error.status, error.message));
    }
    // An offer is written into the node's audit, a question is not: so the page asks until there is a picture to be had.
    for (let running = false; !running; ) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(PAUSE_MS.longest, pause * PAUSE_MS.factor);
      const { status, body } = await ask();
      if (asks(status, body.detail)) return;
      running = status === 200 && body.state === 'running';
      if (!running) say(status === 200 ? stateOf(body) : sentence(status, body.detail));
    }
  }
}

/** Says `live` while pictures come. @returns when the playback has ended, whether any came */
async function follow(player) {
  let frames = -1;
  let seen = null;
  const look = () => {
    if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
    const now = video.getVideoPlaybackQuality().totalVideoFrames;
    if (now !== frames) seen = performance.now();
    frames = now;
    say(performance.now() - seen < STILL_MS ? 'live' : 'The picture stands still …');
  };
  say('waiting for the picture …');
  const timer = setInterval(look, 250);
  video.addEventListener('loadeddata', look);
  await player.ended;
  clearInterval(timer);
  video.removeEventListener('loadeddata', look);
  return seen !== null;
}

/** The node's video status; `status` is undefined where the node does not answer. */
async function ask() {
  try {
    const response = await fetch('/api/video', { headers: credentials() });
    return { status: response.status, body: await response.json().catch(() => ({})) };
  } catch {
    return { body: {} };
  }
}

/** A node without a picture, in a sentence. */
function stateOf({ state: what, problem }) {
  if (what === 'off') return OFF;
  if (what === 'searching') return 'No camera was found.';
  if (what === 'starting') return 'The camera is starting …';
  return problem === null ? 'There is no picture.' : `There is no picture: ${problem}`;
}

/** An answer without a picture, in a sentence. */
function sentence(status, detail) {
  if (status === undefined) return 'The node does not answer.';
  if (status === 501) return OFF;
  if (status === 429) return 'Too many tries. Connecting again later …';
  return detail ?? `The node answered ${status}.`;
}

/** Whether the node wants a credential, or another one; the form then asks for it, and nothing is tried until it is there. */
function asks(status, detail) {
  if (status !== 401 && status !== 403) return false;
  const had = session !== null || key !== null;
  session = null;
  key = null;
  sessionStorage.removeItem(STORED);
  if (status === 403) say(detail ?? 'This browser may not watch from here.');
  else if (had) say('That is not the key, or you were signed out. Enter the PIN or the key.');
  else say('This node is paired: enter the PIN or the key.');
  login.hidden = false;
  return true;
}

login.addEventListener('submit', (event) => {
  event.preventDefault();
  signIn().catch(() => say('The node does not answer.'));
});

async function signIn() {
  if (/^[0-9]{4,12}$/.test(secret.value)) {
    const response = await fetch('/api/dashboard/pin/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pin: secret.value }),
    });
    const body = await response.json().catch(() => ({}));
    if (!response.ok) {
      say(body.detail ?? `The node answered ${response.status}.`);
      return;
    }
    session = body.session;
    sessionStorage.setItem(STORED, session);
  } else key = secret.value; // kept for this page only
  secret.value = '';
  login.hidden = true;
  void watch();
}

void watch();
