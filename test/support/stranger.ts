/// <reference lib="dom" />
import { appendFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';

/** Longer than this for what comes next, ms, is a hesitation. */
const WAIT_MS = 1000;
/** Within this a control that was pressed answers, ms: an element comes or goes, or a control changes its state. */
const ANSWER_MS = 500;

type Role = 'button' | 'checkbox' | 'link' | 'tab';

/** Somebody who sees a page for the first time: finds things by what they are called, and each thing done is a step. */
export class Stranger {
  readonly page: Page;
  /** What was done, in order: a tap, a choice, a field filled, a slide drawn, a button held. */
  readonly steps: string[] = [];
  /** Where somebody would stop: a wait for what comes next of more than 1 s, or a control pressed that did not answer within 0.5 s. */
  readonly hesitations: string[] = [];
  readonly #began = performance.now();

  constructor(page: Page) {
    this.page = page;
  }

  async tap(name: string | RegExp, role: Role = 'button'): Promise<void> {
    this.#did(`tap ${name}`);
    await this.#pressed(`${name}`, this.#named(role, name), async (control) => control.click());
  }

  /** @param places from the upper left corner of the map, CSS pixels; each is a step */
  async tapMap(
    name: string | RegExp,
    ...places: readonly (readonly [x: number, y: number])[]
  ): Promise<void> {
    const map = this.page.getByRole('application', { name });
    for (const [x, y] of places) {
      this.#did(`tap the map at ${x}, ${y}`);
      await map.click({ position: { x, y } });
    }
  }

  async fill(name: string, value: string): Promise<void> {
    this.#did(`fill ${name}`);
    await this.page.getByLabel(name, { exact: true }).fill(value);
  }

  /** A finger draws the thumb from its beginning to its end. */
  async slide(name: string): Promise<void> {
    this.#did(`slide ${name}`);
    const track = this.#named('button', name);
    await track.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await track.boundingBox()) ?? expect.fail(`${name} is not in sight`);
    const { mouse } = this.page;
    await mouse.move(x + height / 2, y + height / 2);
    await mouse.down();
    await mouse.move(x + width - height / 2, y + height / 2, { steps: 5 });
    await this.#pressed(name, track, async () => mouse.up());
  }

  /** @param forMs longer than the button asks for */
  async hold(name: string, forMs = 1500): Promise<void> {
    this.#did(`hold ${name}`);
    await this.#pressed(name, this.#named('button', name), async (control) =>
      control.click({ delay: forMs }),
    );
  }

  /** What is done away from the page, such as a command typed on the node. */
  async elsewhere(what: string, done: Promise<unknown>): Promise<void> {
    this.#did(what);
    await done;
  }

  /** Nothing is done: it is read. */
  async sees(words: string | RegExp, withinMs = 30_000): Promise<void> {
    await this.#awaited(`${words}`, this.page.getByText(words).filter({ visible: true }).first(), withinMs);
  }

  /** @throws AssertionError with all steps, when there were more */
  within(budget: number): void {
    expect(this.steps.length, this.steps.join('; ')).to.be.at.most(budget);
  }

  /** The job is done; with SVC_TRIAL=FILE a line tells of it: job, steps, seconds, hesitations, which. @throws as `within` */
  ends(job: string, budget: number): void {
    const file = process.env['SVC_TRIAL'];
    const seconds = (performance.now() - this.#began) / 1000;
    const { steps, hesitations } = this;
    if (file !== undefined)
      appendFileSync(
        file,
        `${[job, steps.length, seconds.toFixed(0), hesitations.length, hesitations.join('; ')].join('\t')}\n`,
      );
    this.within(budget);
  }

  async #awaited(what: string, it: Locator, timeout = 30_000): Promise<void> {
    const began = performance.now();
    await it.waitFor({ timeout });
    const waited = performance.now() - began;
    if (waited > WAIT_MS) this.hesitations.push(`${what} came after ${(waited / 1000).toFixed(1)} s`);
  }

  async #pressed(what: string, it: Locator, press: (it: Locator) => Promise<void>): Promise<void> {
    await this.#awaited(what, it);
    // In an object, so that the press does not wait for it.
    const answer = await it.evaluateHandle(
      ({ ownerDocument: document }, withinMs) => ({
        came: new Promise<boolean>((resolve) => {
          const observer = new MutationObserver((changes) => {
            const isAnswer = ({ type, target, addedNodes, removedNodes }: MutationRecord): boolean =>
              type === 'attributes'
                ? target instanceof Element && target.matches('button, a, input, dialog')
                : [...addedNodes, ...removedNodes].some((node) => node instanceof Element);
            if (changes.some(isAnswer)) resolve(true);
          });
          const begin = (): void => {
            observer.observe(document, { childList: true, subtree: true, attributes: true });
            setTimeout(() => resolve(false), withinMs);
          };
          for (const event of ['pointerdown', 'pointerup'])
            document.addEventListener(event, begin, { capture: true, once: true });
          document.addEventListener('change', () => resolve(true), { once: true });
        }),
      }),
      ANSWER_MS,
    );
    await press(it);
    if (!(await answer.evaluate(async ({ came }) => came))) this.hesitations.push(`${what} did not answer`);
  }

  #did(step: string): void {
    this.steps.push(step);
  }

  #named(role: Role, name: string | RegExp): Locator {
    return this.page.getByRole(role, typeof name === 'string' ? { name, exact: true } : { name });
  }
}
