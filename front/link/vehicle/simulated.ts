import { MSG } from '../../../shared/mavlink/messages.ts';

const MAX_EVIDENCE = 8;

/**
 * Evidence that the vehicle is simulated (docs/contract.md 6): parameters `SIM_*`, messages SIMSTATE and SIM_STATE. Without
 * evidence it is a real vehicle. The evidence is dropped whenever another vehicle may be connected.
 */
export class SimulatedEvidence {
  #evidence: readonly string[] = [];

  get list(): readonly string[] {
    return this.#evidence;
  }

  message(id: number): void {
    if (id === MSG.SIMSTATE) this.#add('message SIMSTATE');
    else if (id === MSG.SIM_STATE) this.#add('message SIM_STATE');
  }

  parameter(name: string): void {
    if (name.startsWith('SIM_')) this.#add(`parameter ${name}`);
  }

  clear(): void {
    this.#evidence = [];
  }

  #add(text: string): void {
    if (this.#evidence.length >= MAX_EVIDENCE || this.#evidence.includes(text)) return;
    this.#evidence = [...this.#evidence, text];
  }
}
