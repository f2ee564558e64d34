import { parseJson, recordOf } from '../../shared/member.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { cursor } from './parts.ts';
import { classOf, isRaisable, type Tool } from './tool.ts';

/**
 * Tools as clients are shown them, and as their arguments are checked. Each list is paid for in tokens by every conversation, so
 * what a client can do without is not in it. A property has one JSON type: not every model's API takes several.
 */

/** Beyond every number that a client would make up: ports, bytes of a number. */
const FAR = 65_535;

/** What it is stands once, in the instructions of the server. So do the confirmations. */
const NODE: JsonSchema = { type: 'string', maxLength: 128, description: 'its id or name' };

type ObjectSchema = { readonly type: 'object'; readonly [key: string]: unknown };

export interface Listed {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/**
 * A tool for a client: without `additionalProperties`, which some models' APIs refuse (a call is checked for it anyway), and without
 * the shape of its answer, which a model reads in the answer.
 * @param several whether there is more than one node to choose from
 */
export function listed(tool: Tool, several: boolean): Listed {
  const words = tool.phrase === undefined ? '' : ` Words for \`confirm\`${wordsFor(tool)}: ${tool.phrase}.`;
  const asksNode = several && hasNode(tool);
  const required = [...(tool.input.required ?? []), ...(asksNode ? ['node'] : [])];
  return {
    name: tool.name,
    title: tool.title,
    description: `${tool.description}${words}`,
    inputSchema: {
      type: 'object',
      properties: withoutForms({
        ...tool.input.properties,
        ...(asksNode || (several && tool.name === 'audit_query') ? { node: NODE } : {}),
        ...confirms(tool),
      }),
      ...(required.length === 0 ? {} : { required }),
    },
    annotations: hintsOf(tool),
  };
}

/** The words are for what destroys; a tool that only may destroy takes the user's word else. */
function wordsFor(tool: Tool): string {
  return classOf(tool) === 'destructive' ? '' : ' if destructive';
}

/** What of a schema is checked anyway, and no client writes another value for knowing it: forms of texts, degrees of the globe, bounds that nothing usual comes near. */
function withoutForms(properties: object): object {
  const text = JSON.stringify(properties, (key, value: unknown) => {
    const isForm =
      typeof value === 'number'
        ? key === 'maxLength' || key === 'minLength' || isFar(key, value) || isGlobe(key, value)
        : (key === 'pattern' || key === 'x-says') && typeof value === 'string';
    return isForm ? undefined : value;
  });
  return recordOf(parseJson(text));
}

function isFar(key: string, value: number): boolean {
  return (key === 'minimum' && (value === 0 || value === 1)) || (key === 'maximum' && value >= FAR);
}

function isGlobe(key: string, value: number): boolean {
  return (key === 'minimum' || key === 'maximum') && [90, 180].includes(Math.abs(value));
}

/**
 * The schema that the arguments of a call must fit: as listed, and besides what clients send from habit, which does nothing
 * where it has no meaning. Strict otherwise, so that a misspelt argument is an error.
 */
export function checked(tool: Tool): JsonSchema {
  return {
    type: 'object',
    properties: {
      ...(tool.contributed === true ? unchecked(tool.input.properties) : tool.input.properties),
      ...(hasNode(tool) || tool.name === 'audit_query' ? { node: NODE } : {}),
      ...(changes(tool) || tool.input.properties['cursor'] !== undefined ? {} : { cursor }),
      ...(asksPerson(tool)
        ? {
            confirm: { type: ['boolean', 'string'], maxLength: 64 },
            confirm_id: { type: 'string', pattern: '^[A-Za-z0-9]{8}$' },
          }
        : {}),
    },
    ...(tool.input.required === undefined ? {} : { required: [...tool.input.required] }),
    additionalProperties: false,
  };
}

/** Schemas of others may use words that ours do not know. */
function unchecked(properties: Tool['input']['properties']): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.keys(properties).map((property) => [property, {}]));
}

function hasNode({ fleetWide }: Tool): boolean {
  return fleetWide !== true;
}

function changes(tool: Tool): boolean {
  const scope = classOf(tool);
  return scope !== 'read' && scope !== 'secret_read';
}

/** Only the confirmations that the gate would look at. */
function confirms(tool: Tool): Readonly<Record<string, JsonSchema>> {
  if (!asksPerson(tool)) return {};
  return {
    ...(tool.phrase === undefined ? {} : { confirm: { type: 'string', description: 'the words' } }),
    confirm_id: { type: 'string', description: 'code of a signature' },
  };
}

function asksPerson(tool: Tool): boolean {
  return changes(tool) && classOf(tool) !== 'safe_write';
}

/** All of them, true or false: what a client takes for granted where one is missing differs. */
function hintsOf(tool: Tool): Readonly<Record<string, boolean>> {
  const scope = classOf(tool);
  const writes = changes(tool);
  return {
    readOnlyHint: !writes,
    destructiveHint:
      writes && (scope === 'flight' || scope === 'destructive' || isRaisable(tool) || tool.destroys === true),
    idempotentHint: !writes || tool.idempotent,
    openWorldHint: tool.openWorld ?? scope === 'flight',
  };
}
