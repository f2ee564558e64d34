import { listOf } from '../shared/member.ts';
import type { Offered } from './planes/contributions.ts';
import { asRecord } from './rows.ts';
import { contributedName, inItsWords } from './tools/contributed.ts';

/** Prompts that a person can start with. */

export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  readonly text: (args: Readonly<Record<string, string>>) => string;
}

const NODE = { name: 'node', description: 'id of the node', required: true } as const;
const REPORT = 'Say what was not measured (null) as such. Do not change anything.';

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'fleet_health',
    title: 'Health of the fleet',
    description: 'Which nodes answer, and what is wrong with them.',
    arguments: [],
    text: () =>
      `Use fleet_list_nodes, then status_get (part all) for each node that is online. List what is wrong, worst first. ${REPORT}`,
  },
  {
    name: 'preflight_brief',
    title: 'Before the flight',
    description: 'Whether this vehicle is ready to fly.',
    arguments: [NODE],
    text: ({ node }) =>
      `Brief me before a flight of node ${node ?? ''}: flight_check, status_get (part all), telemetry_snapshot, params_optimize, logs_query with level warn. ` +
      `Cover battery, GPS, estimator, home, failsafes and fence, link, video, disk, recent warnings; end with ready or not ready and why. ${REPORT}`,
  },
  {
    name: 'survey',
    title: 'Plan a survey',
    description: 'A flight over an area that takes pictures; uploaded when you agree.',
    arguments: [NODE, { name: 'area', description: 'corners, or a place and a size', required: true }],
    text: ({ node, area }) =>
      `Plan a survey with node ${node ?? ''} of this area: "${area ?? ''}". Ask me for what you lack (height or ground resolution, overlap, camera). ` +
      'Look at telemetry_snapshot and flight_check, build it with mission_build, check it with mission_check, and tell me in a few lines: ' +
      'area, height, lines, pictures, distance, time, farthest place from the vehicle, every warning. Upload it only when I say so, and start it only when I say so again.',
  },
  {
    name: 'postflight_debrief',
    title: 'After the flight',
    description: 'What happened in the last flight.',
    arguments: [NODE],
    text: ({ node }) =>
      `Debrief the last flight of node ${node ?? ''} with flight_report (no log: the newest). Take its findings in their order, the first is not the loudest; ` +
      `show the evidence of each with flight_log_series where a figure decides. End with what to do before the next flight. ${REPORT}`,
  },
  {
    name: 'why_did_it_do_that',
    title: 'Why did it do that',
    description: 'The cause of something the vehicle did.',
    arguments: [NODE, { name: 'what', description: 'what it did, and about when', required: true }],
    text: ({ node, what }) =>
      `The vehicle of node ${node ?? ''} did this: "${what ?? ''}". Find out why: flight_report for the findings in their order, flight_log_series around that time ` +
      '(mode, attitude against desired, voltage, position, radio), telemetry_snapshot and params_optimize for what its failsafes do. ' +
      `Tell cause, chain and impact with times and figures, what speaks against it, and how sure you are. ${REPORT}`,
  },
  {
    name: 'tune_and_optimize',
    title: 'Parameters',
    description: 'Look at the parameters, propose, change nothing.',
    arguments: [NODE],
    text: ({ node }) =>
      `Read params_optimize and params_read_all (changed) of node ${node ?? ''} and propose changes with reasons, one by one. ${REPORT}`,
  },
  {
    name: 'triage_issue',
    title: 'Find a fault',
    description: 'Narrow a symptom down.',
    arguments: [NODE, { name: 'symptom', description: 'what was seen', required: true }],
    text: ({ node, symptom }) =>
      `Node ${node ?? ''} shows this: "${symptom ?? ''}". Find the likely causes with status_get (parts all, links, services) ` +
      `and logs_query; say for each what speaks for it, and what I should check. ${REPORT}`,
  },
];

const MAX_TEXT = 8192;
const MAX_PROMPTS = 64;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Prompts of extensions: `{name, title, description, arguments: [{name, description, required}], template}`; `{name}` in the
 * template stands for an argument. One without a template is left out.
 */
export function contributedPrompts(all: readonly Offered[]): readonly Prompt[] {
  const prompts = all.flatMap(({ id, prompts: declared }) =>
    declared.flatMap((entry) => {
      const { name, title, description, template } = entry;
      if (typeof name !== 'string' || !NAME.test(name)) return [];
      if (typeof template !== 'string' || template.length > MAX_TEXT) return [];
      const prompt: Prompt = {
        name: contributedName(id, name),
        title: `${name} (${id})`,
        description: `Prompt ${name} of the extension ${id}. ${inItsWords(title, description)}`,
        arguments: argumentsOf(entry['arguments']),
        text: (args) =>
          `In the words of the extension ${id}:\n${template.replaceAll(
            /\{([A-Za-z0-9_]{1,64})\}/g,
            (whole, argument: string) => (Object.hasOwn(args, argument) ? (args[argument] ?? '') : whole),
          )}`,
      };
      return [prompt];
    }),
  );
  return [...new Map(prompts.map((prompt) => [prompt.name, prompt])).values()].slice(0, MAX_PROMPTS);
}

function argumentsOf(declared: unknown): Prompt['arguments'] {
  return listOf(declared)
    .map(asRecord)
    .flatMap(({ name, description, required }) =>
      typeof name === 'string' && NAME.test(name)
        ? [{ name, description: inItsWords(description), required: required === true }]
        : [],
    );
}

/** @returns a sentence if there is no such prompt, or an argument is missing */
export function getPrompt(
  prompts: readonly Prompt[],
  name: string,
  args: Readonly<Record<string, string>>,
): { description: string; messages: { role: 'user'; content: { type: 'text'; text: string } }[] } | string {
  const prompt = prompts.find((each) => each.name === name);
  if (prompt === undefined) return `There is no prompt ${name}.`;
  const missing = prompt.arguments.find((each) => each.required && args[each.name] === undefined);
  if (missing !== undefined) return `The prompt ${name} needs the argument ${missing.name}.`;
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(args) } }],
  };
}
