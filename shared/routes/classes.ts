/**
 * The class of an item that a request names: a config key, a parameter of the flight controller, a service, a command. A row
 * has one class, but some rows can write very different items; an item adds the class that a caller needs besides, and never
 * takes the row's away. The edge enforces the classes, the connector shows and checks them, `svc explain` prints them.
 */

import type { Scope } from '../auth/scopes.ts';
import { configLeaf } from '../config/keys.ts';
import type { CommandClass } from '../mavlink/command-classes.ts';
import { classOfParam, type ParamClass } from '../mavlink/param-classes.ts';
import { listOf, memberOf } from '../member.ts';
import { draftedItems } from '../mission/document.ts';
import { type Notable, notableIn } from '../mission/notable.ts';
import { unitName } from '../units.ts';

/** `keyonly`: the pairing key, or this machine; `root`: root on the node, so nobody over the API. */
type NamedClass = Scope | 'keyonly' | 'root';

export type NamedKind = 'config-key' | 'parameter' | 'service' | 'command';

/**
 * Where a request names something: a path parameter, a member of the body, the members of an object in the body, the texts of a list
 * in the body; or the items of the mission that the body is.
 */
export type Naming =
  | {
      readonly kind: NamedKind;
      readonly in: 'path' | 'body' | 'body-members' | 'body-list';
      readonly member: string;
    }
  | { readonly kind: 'mission'; readonly in: 'document'; readonly member: '' };

export interface Raised {
  readonly name: string;
  readonly class: NamedClass;
  /** Why, as half a sentence. */
  readonly reason: string;
}

/** Processes and units that carry the link to the vehicle, or show where it flies (docs/contract/node.md#processes). */
const LINK_OR_PICTURE = /mavlink|supervisor|video|wifibroadcast|wfb|svc-(?:link|sim)$/;

const COMMANDS: Readonly<Record<string, readonly [Scope, string]>> = {
  killswitch: ['destructive', 'stops the motors wherever the vehicle is'],
  parachute: ['destructive', 'stops the motors and ends the flight'],
  motortest: ['destructive', 'a motor runs while somebody may stand beside it'],
  rebootautopilot: ['destructive', 'the vehicle hears and does nothing until it is back'],
};

/** What each class of parameters needs besides the row's. */
const OF_PARAMETERS: Readonly<Record<ParamClass, readonly NamedClass[]>> = {
  harmless: [],
  flight: ['flight'],
  'safety-net': ['flight', 'destructive'],
  keyonly: ['keyonly'],
};

/** What an item of a mission needs besides `flight`, which its row has. */
const OF_ITEMS: Readonly<Record<CommandClass, NamedClass | null>> = {
  read: null,
  flight: null,
  setup: 'admin',
  destructive: 'destructive',
  keyonly: 'keyonly',
};

/** @returns what the name needs beyond its row's class, the highest last; empty if the row's class is enough */
export function raisedBy(kind: NamedKind, name: string): readonly Raised[] {
  switch (kind) {
    case 'config-key': {
      const leaf = configLeaf(name);
      const found = leaf?.['x-class'];
      return found === undefined ? [] : [{ name, class: found, reason: leaf?.['x-reason'] ?? '' }];
    }
    case 'parameter': {
      const { class: found, reason } = classOfParam(name);
      return OF_PARAMETERS[found].map((each) => ({ name, class: each, reason }));
    }
    case 'service': {
      const unit = unitName(name);
      return LINK_OR_PICTURE.test(unit)
        ? [
            {
              name: unit,
              class: 'flight',
              reason: 'carries the link to the vehicle, or shows where it flies',
            },
          ]
        : [];
    }
    case 'command': {
      const found = COMMANDS[name.trim().toLowerCase()];
      return found === undefined ? [] : [{ name, class: found[0], reason: found[1] }];
    }
  }
}

/** One item of each class that a request names, in the order of the request; empty if nothing adds to the row's class. */
export function raisedByRequest(
  namings: readonly Naming[],
  params: Readonly<Record<string, string>>,
  body: unknown,
): readonly Raised[] {
  const found = new Map<NamedClass, Raised>();
  const raise = (raised: Raised): void => {
    if (!found.has(raised.class)) found.set(raised.class, raised);
  };
  for (const naming of namings) {
    if (naming.kind === 'mission') {
      for (const each of notableIn(draftedItems(body, 'mission'))) raisedByItem(each).forEach(raise);
      continue;
    }
    const { kind, in: where, member } = naming;
    const value = where === 'path' ? params[member] : memberOf(body, member);
    for (const name of namesIn(value, where)) raisedBy(kind, name).forEach(raise);
  }
  return [...found.values()];
}

function raisedByItem({ name, index, classes, reason }: Notable): readonly Raised[] {
  return classes.flatMap((each) => {
    const needed = OF_ITEMS[each];
    return needed === null ? [] : [{ name: `${name} (at index ${index})`, class: needed, reason }];
  });
}

function namesIn(value: unknown, where: Naming['in']): readonly string[] {
  if (where === 'body-members') return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (where === 'body-list') return listOf(value).filter((each) => typeof each === 'string');
  return typeof value === 'string' ? [value] : [];
}
