import { describeKills } from "../harness/kill-chain";

describeKills("remove", "even");
