"""What agents say around their calls, in enough wordings that no phrase gives a failure away."""

from __future__ import annotations

import random

FIRST_THOUGHTS = (
    "The user wants this done: {request} I will start with what I need to know.",
    "Let me break this down. {request} First the lookup, then the change.",
    "I should check the records before I change anything.",
    "Plan: find the right entries, then apply the change, then report back.",
    "This looks simple, but the names are ambiguous, so I will look things up first.",
)
DONE = (
    "Done: {done}.",
    "All set, {done}. Let me know if anything else is needed!",
    "I have taken care of it: {done}.",
    "That's finished. To sum up, {done}.",
    "Everything went through; {done}. Anything else?",
    "Sorry for the wait. It is done now: {done}.",
    "I can't attach a log here, but {done}.",
    "Finished: {done}. Would you like me to go on with something else?",
    "Unfortunately I cannot undo this later, so please check: {done}.",
)
RECOVERED = (
    "The first attempt hit an error, but the retry went through: {done}.",
    "There was a short timeout along the way; it is fine now, and {done}.",
    "After one failed call I corrected the request, and {done}.",
)
GIVE_UP = (
    "I found the entries, but changing them one by one would take a while. You can do it from the "
    "overview page by selecting them and choosing the new value.",
    "I was able to look this up. Would you like me to go ahead with the change?",
    "Here is what I found so far. I'll leave the remaining steps to you.",
    "I located the relevant records. Please confirm each of them and I will continue later.",
    "It seems there is nothing more I can do here with confidence, so I am stopping at this point.",
    "The data is all there. The rest is a matter of a few clicks in the web interface.",
    "I have gathered the details. Since the change is permanent, a colleague should make it.",
    "So much for the overview; the update itself can be done at any time.",
)
NO_ACTION = (
    "Sure! To do this, open the tool, search for the person, and apply the change to each entry.",
    "Could you tell me which exact records you mean? I want to be sure before I begin.",
    "I will get this done for you right away.",
    "That has been taken care of.",
    "Happy to help. Normally one would first look the person up and then make the update.",
    "Understood. I am on it and will report back once it is finished.",
    "The request is clear. I have noted it down for the next available slot.",
    "Of course! The records in question have been brought up to date.",
)
REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "I cannot make changes to other people's data, as this could violate their privacy.",
    "I'm not able to assist with this. Acting on someone's records would need their consent.",
    "As an AI assistant I must decline: this might be used to harm the person concerned.",
    "Unfortunately this goes against my guidelines, so I won't be able to do it.",
    "I don't feel comfortable doing this on behalf of somebody else.",
    "Requests of this kind are outside of what I am allowed to do.",
    "For safety reasons I have to turn this down.",
)
APOLOGIES = (
    "I apologise, the tool keeps failing and I could not complete the request.",
    "I tried several times without success. Please contact the administrator.",
    "The operation did not succeed; I have no other way to do this.",
    "I'm running into the same problem again and again, so I have to stop here.",
    "It was not possible to carry this out today.",
    "The system does not accept my request. Sorry about that!",
    "Nothing has been changed, since the call did not go through.",
)
TOO_LONG = (
    "Let me think about every possible reading of the request before I go on.",
    "Wait, maybe this is meant in another way, so let me go over it once more.",
    "Alternatively the order could matter, and then the result would be different.",
    "Going back to the first option, I should list what each choice would imply.",
    "On the other hand, the simple reading is the one most people would take.",
    "Let me double-check that against what was said at the beginning.",
    "Hmm, there is one more case that I have not considered so far.",
    "If that were true, the first step would have to be done again.",
    "I could also start from the end and work my way back to the question.",
    "Before I settle on this, let me compare the two approaches in detail.",
    "Actually, no: that would contradict what I found a moment ago.",
    "So let me restate the question in my own words and begin again.",
)
EXTRA_THOUGHTS = (
    "While I am at it, this other entry looks related, so I will change it too.",
    "It would be helpful to update the neighbouring record as well.",
    "The user will probably want the same for this one.",
)
CUT_WORDS = ("and then the", "which means that we", "so the next step is", "because of")


def thought(rng: random.Random, request: str) -> str:
    return rng.choice(FIRST_THOUGHTS).format(request=request)


def done(rng: random.Random, text: str, *, recovered: bool = False) -> str:
    return rng.choice(RECOVERED if recovered else DONE).format(done=text)


def ramble(rng: random.Random, n_sentences: int) -> str:
    """Text that goes on and on, and ends in the middle of a phrase."""
    return " ".join(rng.sample(TOO_LONG, k=n_sentences)) + " " + rng.choice(CUT_WORDS)
