import { accessWords } from './pages/access/words.ts';
import { extensionsWords } from './pages/extensions/words.ts';
import { flyWords } from './pages/fly/words.ts';
import { groundWords } from './pages/ground/words.ts';
import { nodeWords } from './pages/node/words.ts';
import { planWords } from './pages/plan/words.ts';
import { setupWords } from './pages/setup/words.ts';
import { vehicleWords } from './pages/vehicle/words.ts';

/** Every English word of the page: each page brings its own, what several of them say stands here. */
export const t = {
  app: {
    skip: 'Skip to the content',
    pages: 'Pages',
    theme: { label: 'Appearance', auto: 'As the system', light: 'Light', dark: 'Dark' },
    away: (seconds: number) => `The node has not answered for ${seconds} s. What is shown may be old.`,
    checking: 'Asking the node …',
    noAnswer: 'The node does not answer yet. The page goes on asking.',
    page: {
      fly: 'Fly',
      plan: 'Plan',
      vehicle: 'Vehicle',
      node: 'Node',
      extensions: 'Extensions',
      access: 'Access',
      ground: 'Ground',
      setup: 'Set-up',
    },
    relay: {
      title: (name: string) => `You look at ${name} through the radio`,
      back: 'Back to the ground station',
    },
    vehicle: {
      none: 'No vehicle',
      silent: 'Vehicle not heard',
      armed: 'Armed',
      disarmed: 'Disarmed',
      battery: (percent: number) => `${percent} %`,
    },
    menu: 'Menu',
    signOut: 'Sign out',
    close: 'Close',
    cancel: 'Cancel',
    retry: 'Try again',
    loading: 'Loading …',
    copy: 'Copy',
    copied: 'Copied',
    save: 'Save',
    none: '–',
    old: (age: string) => `${age} old`,
    holdHint: 'Hold the button to confirm.',
    failed: 'That did not work.',
    force: 'Do it although the vehicle is armed (hold)',
  },
  denied: {
    'not-built': 'This version of the node cannot do it.',
    'not-here': 'This is switched off on the node, or not part of its profile.',
    'key-only': 'Only the holder of the pairing key may do it.',
    scope: 'The token that you are signed in with does not allow it.',
    relay: 'This cannot be done through the radio: open the drone’s own page on its network.',
  },
  addKey: {
    label: 'Pairing key',
    hint: 'For what a session is too little for. It is forgotten when this page is loaded anew.',
    button: 'Use the key',
  },
  signIn: {
    title: 'Sign in',
    secret: 'PIN, pairing key or token',
    keep: 'Stay signed in on this browser',
    keepHint:
      'A sign-in with the PIN or the key stays until this tab is closed, or on this browser for 24 hours at most. The key itself is not kept, nor is a token.',
    button: 'Sign in',
    ended: 'Your session has ended, or the PIN or key was changed. Sign in again.',
    unknown: 'That is neither a PIN (4 to 12 digits) nor a pairing key nor a token.',
    wrong: 'The node does not take this.',
    noPin:
      'No PIN is set yet. Use the pairing key, or open this page at the node’s own hotspot or USB cable to set one up.',
    refused: 'The node does not talk to this browser',
    nearer:
      'Nobody has paired this node yet, so it answers only its own networks. Use its hotspot or its USB cable.',
  },
  time: {
    seconds: (n: number) => `${n} s`,
    minutes: (n: number) => `${n} min`,
    hours: (n: number) => `${n} h`,
    days: (n: number) => `${n} d`,
  },
  fly: flyWords,
  plan: planWords,
  vehicle: vehicleWords,
  node: nodeWords,
  extensions: extensionsWords,
  access: accessWords,
  ground: groundWords,
  setup: setupWords,
  map: {
    zoomIn: 'Closer',
    zoomOut: 'Further away',
    file: 'Map file',
    grid: 'Grid',
    source: (text: string) => `Map: ${text}`,
  },
  form: {
    search: 'Search for a setting',
    noHit: 'No setting has this in its name or description.',
    nothing: 'There is nothing to set.',
    empty: 'empty',
    on: 'on',
    off: 'off',
    unset: 'as the profile has it',
    default: (value: string) => `Default: ${value}`,
    between: (low: number, high: number) => `${low} to ${high}`,
    atLeast: (low: number) => `at least ${low}`,
    atMost: (high: number) => `at most ${high}`,
    lines: (most: number) => `at most ${most}`,
    oneALine: 'one a line',
    secretSet: 'set; write a new one to replace it',
    secretUnset: 'not set',
    clear: 'Clear',
    clearOf: (name: string) => `Clear ${name}`,
    saveOf: (name: string) => `Save ${name}`,
    rootOnly: 'Only root on the node itself may change it.',
    reason: (text: string) => `It ${text}.`,
    noJson: 'This must be JSON.',
  },
  config: {
    title: 'Configuration',
    hint: 'Each value is stored by itself in config.yaml. It counts when what it belongs to has started again.',
    saved: (key: string) => `${key} is stored.`,
    cleared: (keys: string) => `Cleared, because they would be sent to another host than before: ${keys}.`,
    restart: 'Stored, and not in force yet. To restart:',
    restartOf: (name: string) => `Restart ${name}`,
    restarted: (name: string) => `${name} runs with the new configuration.`,
    notBack: (name: string) => `${name} did not come back. Look at the node’s log.`,
  },
  chart: {
    summary: (newest: string, least: string, most: string) =>
      `${newest} now, lowest ${least}, highest ${most}`,
  },
};
