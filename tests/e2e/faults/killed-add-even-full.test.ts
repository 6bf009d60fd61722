import { describeKills } from "../harness/kill-chain";

describeKills("add", "even");
